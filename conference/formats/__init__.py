"""How dates and times are typed, per language; Django finds the folders by language."""
