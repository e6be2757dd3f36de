"""Catalogue to Markdown: pages and fragments for Hugo. Templates hold markup; the code beside them chooses words."""
