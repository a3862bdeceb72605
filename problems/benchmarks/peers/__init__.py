"""The same problems in Pinocchio, Drake, OpenSim Moco and rockit, each in its own process."""
