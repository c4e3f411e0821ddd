"""What the engine needs of the world, each need as a protocol."""
