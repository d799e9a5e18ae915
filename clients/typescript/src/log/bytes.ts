/** Handle bytes, and the runtime's own cryptography. */

/** Return the runtime's WebCrypto; Node 18 has it in a module only. */
async function subtle(): Promise<SubtleCrypto> {
  if (globalThis.crypto !== undefined) return globalThis.crypto.subtle;
  const module: string = "node:crypto";
  return ((await import(module)) as { webcrypto: Crypto }).webcrypto.subtle;
}

export async function sha256(content: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await (await subtle()).digest("SHA-256", content as BufferSource));
}

/** Return whether the Ed25519 signature is by the key with these 32 bytes. */
export async function isSigned(
  key: Uint8Array,
  content: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  const crypto = await subtle();
  try {
    const publicKey = await crypto.importKey("raw", key as BufferSource, "Ed25519", false, [
      "verify",
    ]);
    return await crypto.verify(
      "Ed25519",
      publicKey,
      signature as BufferSource,
      content as BufferSource,
    );
  } catch (error) {
    if (error instanceof Error && error.name === "NotSupportedError") throw error;
    return false;
  }
}

export function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let place = 0;
  for (const part of parts) {
    whole.set(part, place);
    place += part.length;
  }
  return whole;
}

export function equal(first: Uint8Array, second: Uint8Array): boolean {
  return first.length === second.length && first.every((byte, place) => byte === second[place]);
}

export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

export function hex(content: Uint8Array): string {
  return Array.from(content, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Return 32 bytes from hexadecimal, or null for anything else. */
export function fromHex(text: unknown): Uint8Array | null {
  if (typeof text !== "string" || !/^[0-9a-f]{64}$/i.test(text)) return null;
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

/** Return the bytes of base64 in its standard spelling, or null for any other. */
export function fromBase64(text: string): Uint8Array | null {
  try {
    const binary = atob(text);
    if (btoa(binary) !== text) return null;
    return Uint8Array.from(binary, (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}
