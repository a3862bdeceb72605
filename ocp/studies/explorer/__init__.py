"""Explorer: a page of this machine on which a problem's parameters move and it is solved anew."""
