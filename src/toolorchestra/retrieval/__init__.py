"""Search of passages at scale: corpora, encoders, Faiss indices, and a server with its client."""
