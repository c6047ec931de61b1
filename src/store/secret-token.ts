/** Secrets of links and cookies: made, and turned into the digest that is stored in their place. */
import { hash, randomBytes } from "node:crypto";

/** 256 random bits in base64url, 43 characters. */
export const makeToken = (): string => randomBytes(32).toString("base64url");

/** SHA-256 of a token, as it is stored; a slow hash would add nothing, for nobody can try 2^256 tokens. */
export const digestToken = (token: string): Uint8Array => hash("sha256", token, "buffer");
