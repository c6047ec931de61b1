/** SHA-256 (FIPS 180-4) of bytes that come piece by piece, which the Web Cryptography API cannot compute. */

export interface Sha256 {
  add(bytes: Uint8Array): void;
  /** In hexadecimal digits. Nothing may be added afterwards. */
  digest(): string;
}

const blockBytes = 64;

export function openSha256(): Sha256 {
  const state = Int32Array.from(initialState);
  const waiting = new Uint8Array(blockBytes);
  let waitingBytes = 0;
  let totalBytes = 0;

  function take(bytes: Uint8Array): void {
    let at = 0;
    if (waitingBytes > 0) {
      at = Math.min(blockBytes - waitingBytes, bytes.length);
      waiting.set(bytes.subarray(0, at), waitingBytes);
      waitingBytes += at;
      if (waitingBytes < blockBytes) return;
      addBlock(state, waiting, 0);
    }
    for (; at + blockBytes <= bytes.length; at += blockBytes) addBlock(state, bytes, at);
    waiting.set(bytes.subarray(at));
    waitingBytes = bytes.length - at;
  }

  return {
    add(bytes) {
      totalBytes += bytes.length;
      take(bytes);
    },
    digest() {
      // A one, zeros, and the number of bits in eight bytes at the end of a block.
      const padding = new Uint8Array(blockBytes + 8 - ((totalBytes + 8) % blockBytes));
      padding[0] = 0x80;
      const bits = new DataView(padding.buffer, padding.length - 8);
      bits.setUint32(0, Math.floor(totalBytes / 0x2000_0000));
      bits.setUint32(4, (totalBytes * 8) >>> 0);
      take(padding);
      return Array.from(state, (word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
    },
  };
}

/** The first 32 bits of what follows the point. */
const fractionBits = (root: number) => ((root - Math.floor(root)) * 2 ** 32) | 0;

const primes: number[] = [];
for (let number = 2; primes.length < 64; number++)
  if (primes.every((prime) => number % prime !== 0)) primes.push(number);

const initialState = primes.slice(0, 8).map((prime) => fractionBits(Math.sqrt(prime)));
const constants = Int32Array.from(primes, (prime) => fractionBits(Math.cbrt(prime)));
const schedule = new Int32Array(64);

function addBlock(state: Int32Array, bytes: Uint8Array, at: number): void {
  for (let i = 0; i < 16; i++, at += 4)
    schedule[i] =
      (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;
  for (let i = 16; i < 64; i++) {
    const x = schedule[i - 15]!;
    const y = schedule[i - 2]!;
    const small = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const large = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    schedule[i] = (schedule[i - 16]! + small + schedule[i - 7]! + large) | 0;
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as EightWords;
  for (let i = 0; i < 64; i++) {
    const large = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const first = (h + large + ((e & f) ^ (~e & g)) + constants[i]! + schedule[i]!) | 0;
    const small = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const second = (small + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + second) | 0;
  }
  [a, b, c, d, e, f, g, h].forEach((word, i) => {
    state[i] = (state[i]! + word) | 0;
  });
}

type EightWords = [number, number, number, number, number, number, number, number];
