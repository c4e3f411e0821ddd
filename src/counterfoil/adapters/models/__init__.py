"""Models that answer: any endpoint that speaks OpenAI's protocol, and a script."""
