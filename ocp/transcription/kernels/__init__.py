"""CasADi functions of one instant, mapped over instants, and their derivatives."""
