"""Script that renders one thumbnail. It reads a PDF or picture from stdin, and writes a WebP file to stdout.

It limits its memory and CPU time, because the files are untrusted and parsed in C. It does not use Django.
"""

import io
import resource
import sys

import pypdfium2
from PIL import Image, ImageOps

MAX_SIZE_PIXELS = 320, 240
# The first screen of a list shows about a dozen thumbnails.
MAX_BYTES = 7_000
QUALITIES = 80, 60, 40, 20, 10
# Pillow also reads formats that run other programs, such as EPS.
FORMATS = "JPEG", "PNG", "WEBP", "AVIF", "GIF"
MAX_MEMORY_BYTES = 1_000_000_000
MAX_SECONDS = 20


def first_page(content: bytes) -> Image.Image:
    """Return the upper part of the first page of a PDF, which has the title and often a figure."""
    page = pypdfium2.PdfDocument(content)[0]
    # Render at twice the thumbnail's width, because pages of posters can be huge.
    picture: Image.Image = page.render(scale=2 * MAX_SIZE_PIXELS[0] / page.get_width()).to_pil()
    return picture.crop((0, 0, picture.width, min(picture.height, round(picture.width * 0.75))))


def thumbnail(content: bytes) -> bytes:
    """Return a PDF's first page, or a picture, as a small WebP file."""
    if content.startswith(b"%PDF"):
        image = first_page(content)
    else:
        image = ImageOps.exif_transpose(Image.open(io.BytesIO(content), formats=FORMATS))
    if "A" in image.getbands() or "transparency" in image.info:
        transparent = image.convert("RGBA")
        image = Image.new("RGB", transparent.size, "white")
        image.paste(transparent, mask=transparent.getchannel("A"))
    image = image.convert("RGB")
    image.thumbnail(MAX_SIZE_PIXELS, Image.Resampling.LANCZOS)
    webp = b""
    for quality in QUALITIES:
        file = io.BytesIO()
        image.save(file, "WEBP", quality=quality, method=6)
        webp = file.getvalue()
        if len(webp) <= MAX_BYTES:
            break
    return webp


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_SECONDS, MAX_SECONDS))
    sys.stdout.buffer.write(thumbnail(sys.stdin.buffer.read()))
