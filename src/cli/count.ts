/** Reads how many an option asks for. */
import { InvalidArgumentError } from "commander";

/** @throws InvalidArgumentError where it is no whole number from 1 to 999999999. */
export function parseCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new InvalidArgumentError("Write a whole number from 1 to 999999999.");
  return Number(text);
}
