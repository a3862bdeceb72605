"""Matrix kernels of the interior point: products, tiles, tall matrices."""
