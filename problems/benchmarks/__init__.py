"""What comparisons count and time: operations of formulations, costs of derivatives."""
