"""The site: the work folder for Hugo, its data files, Hugo itself; pages and charts are in folders of their own."""
