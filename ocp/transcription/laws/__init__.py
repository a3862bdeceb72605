"""Laws that every motion obeys: dynamics, contact, loops, unilateral joints."""
