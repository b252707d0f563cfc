"""Conversations with a system prompt, for the chat-tuned pocket model."""
