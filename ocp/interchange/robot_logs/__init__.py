"""Motions as logs of messages, which viewers and players of ROS 2 read."""
