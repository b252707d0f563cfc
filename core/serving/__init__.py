"""What a server for many people needs: classes, its health, and a backup."""
