"""Small made-up worlds (people, places, things on one occasion) and the texts, questions and summaries about them."""
