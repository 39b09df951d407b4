// Unpack: the bytes of base64 of gzip.

async function unpacked(text) {
  if (typeof DecompressionStream === "undefined") {
    throw new Error("this browser can't decompress them: it has no DecompressionStream");
  }
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}
