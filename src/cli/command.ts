/** What a command is: what it takes, does and prints, in one declaration. */
import { Argument, type Command, Option } from "commander";
import type { EnvironmentFile } from "#config/environment-file.ts";

/** What a command takes from its process, passed in so that tests can pass their own. */
export interface CliContext {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The file that some of the environment was read from, if there is one. */
  readonly environmentFile?: EnvironmentFile | null;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** One or more whole lines to standard output, without the last line break. */
  readonly print: (text: string) => void;
  /** The same to standard error. */
  readonly reportError: (text: string) => void;
}

/** Adds one command, or a family of them, to the program. */
export type AddCommands = (program: Command, context: CliContext) => void;

/** An argument or an option, and how its value is read. */
interface Parameter<Value> {
  of: Argument | Option;
  /** @param given what commander found; undefined for a parameter that was left out. */
  read(given: unknown): Value;
}

type Parameters = Readonly<Record<string, Parameter<unknown>>>;

/** The values of parameters, by their names. */
export type Values<P extends Parameters> = {
  readonly [Name in keyof P]: P[Name] extends Parameter<infer Value> ? Value : never;
};

export const parameter = <Value>(of: Argument | Option): Parameter<Value> => ({
  of,
  read: (given) => given as Value,
});

type ArgumentValue<Name extends string> = Name extends `${string}...${string}`
  ? string[]
  : Name extends `[${string}`
    ? string | undefined
    : string;

/** @param name `<name>`, `[name]` for one that may be left out, `<names...>` for several. */
export const argument = <Name extends string>(name: Name, description: string) =>
  parameter<ArgumentValue<Name>>(new Argument(name, description));

/** An option without a value. @param others names of options that cannot stand beside it. */
export const flag = (name: string, description: string, ...others: string[]) => ({
  of: new Option(name, description).conflicts(others),
  read: (given: unknown) => given === true,
});

/** @param parse throws InvalidArgumentError; without it the value is the text. */
export function option(name: string, description: string): Parameter<string | undefined>;
export function option<Value>(
  name: string,
  description: string,
  parse: (text: string) => Value,
): Parameter<Value | undefined>;
export function option(name: string, description: string, parse?: (text: string) => unknown) {
  return parameter(optionOf(name, description, parse));
}

/** The same for an option that cannot be left out. */
export function neededOption(name: string, description: string): Parameter<string>;
export function neededOption<Value>(
  name: string,
  description: string,
  parse: (text: string) => Value,
): Parameter<Value>;
export function neededOption(name: string, description: string, parse?: (text: string) => unknown) {
  return parameter(optionOf(name, description, parse).makeOptionMandatory());
}

function optionOf(name: string, description: string, parse?: (text: string) => unknown): Option {
  const made = new Option(name, description);
  return parse === undefined ? made : made.argParser(parse);
}

/** An option that takes one of some words. */
export const choice = <const Word extends string>(
  name: string,
  description: string,
  words: readonly Word[],
) => parameter<Word | undefined>(new Option(name, description).choices(words));

interface Declaration<Args extends Parameters, Options extends Parameters, Result> {
  name: string;
  description: string;
  /** In their order. */
  args?: Args;
  options?: Options;
  /** A call to paste, without the name of the program. */
  example: string;
  /** Null where it has printed all there is by itself. */
  run(
    input: Values<Args> & Values<Options>,
    context: CliContext,
  ): Result | null | Promise<Result | null>;
  /** What `--json` prints, if it is not the result itself. */
  json?(result: Result, input: Values<Args> & Values<Options>): unknown;
  /** What people read; a command without it prints by itself, and has no `--json`. */
  text?(result: Result, input: Values<Args> & Values<Options>, context: CliContext): string;
  /** What the command fails with once its result is printed. */
  fault?(result: Result, context: CliContext): unknown;
  /** Whether standard output holds something else, so that the result goes to standard error. */
  isAside?(input: Values<Args> & Values<Options>): boolean;
}

const jsonFlag = flag("--json", "print the result as JSON");

export const command =
  <
    Result,
    const Args extends Parameters = Record<never, never>,
    const Options extends Parameters = Record<never, never>,
  >(
    declared: Declaration<Args, Options, Result>,
  ): AddCommands =>
  (parent, context) => {
    const { name, description, example, run, json, text, fault, isAside } = declared;
    const parameters: Parameters = { ...declared.args, ...declared.options };
    const made = parent
      .command(name)
      .description(description)
      .addHelpText("after", `\nExample:\n  gp-records ${example}`);
    for (const { of } of Object.values(parameters))
      if (of instanceof Argument) made.addArgument(of);
      else made.addOption(of);
    if (text !== undefined) made.addOption(jsonFlag.of);
    made.action(async () => {
      const given = made.opts<Record<string, unknown>>();
      const args = [...made.processedArgs];
      const valueOf = ({ of, read }: Parameter<unknown>) =>
        read(of instanceof Argument ? args.shift() : given[of.attributeName()]);
      const input = Object.fromEntries(
        Object.entries(parameters).map(([key, one]) => [key, valueOf(one)]),
      ) as Values<Args> & Values<Options>;
      const result = await run(input, context);
      if (text === undefined || result === null) return;
      const print = isAside?.(input) === true ? context.reportError : context.print;
      print(
        given["json"] === true
          ? JSON.stringify(json === undefined ? result : json(result, input))
          : text(result, input, context),
      );
      const failed = fault?.(result, context) ?? null;
      if (failed !== null) throw failed;
    });
  };

/** Commands that share their first word. */
export const family =
  (name: string, description: string, members: readonly AddCommands[]): AddCommands =>
  (program, context) => {
    const made = program.command(name).description(description);
    for (const add of members) add(made, context);
  };
