/** Makes a command from one declaration of its parameters, its work and its output. */
import { Argument, type Command, Option } from "commander";
import type { EnvironmentFile } from "#config/environment-file.ts";

/** Environment, clock and output of a command. Tests pass their own. */
export interface CliContext {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The `.env` file, used or ignored; null if there is none. */
  readonly environmentFile?: EnvironmentFile | null;
  /** Returns the time in ms since 1970. */
  readonly now: () => number;
  /** Waits this many ms; uses Node's timers by default. */
  readonly wait?: (milliseconds: number) => Promise<unknown>;
  /** Prints one or more whole lines to standard output. @param text without the last line break. */
  readonly print: (text: string) => void;
  /** Prints one or more whole lines to standard error. @param text without the last line break. */
  readonly reportError: (text: string) => void;
}

/** Function that adds a command, or a family of them, to a program or family. */
export type AddCommands = (program: Command, context: CliContext) => void;

/** An argument or option, and how its value is read. */
interface Parameter<Value> {
  of: Argument | Option;
  /** Reads the value. @param given as commander found it; undefined if it was left out without a default. */
  read(given: unknown): Value;
}

type Parameters = Readonly<Record<string, Parameter<unknown>>>;

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

/** Declares an argument. @param name `<name>`, `[name]` if it may be left out, `<names...>` for several. */
export const argument = <Name extends string>(name: Name, description: string) =>
  parameter<ArgumentValue<Name>>(new Argument(name, description));

/** Declares an option without a value. @param others options that cannot be combined with it, in camel case. */
export const flag = (name: string, description: string, ...others: string[]) => ({
  of: new Option(name, description).conflicts(others),
  read: (given: unknown) => given === true,
});

/** Declares an option. Without `parse`, the value is the text. @param parse may throw InvalidArgumentError. */
export const option = <Value = string>(
  name: string,
  description: string,
  parse?: (text: string) => Value,
) => parameter<NoInfer<Value> | undefined>(optionOf(name, description, parse));

export const neededOption = <Value = string>(
  name: string,
  description: string,
  parse?: (text: string) => Value,
) => parameter<NoInfer<Value>>(optionOf(name, description, parse).makeOptionMandatory());

function optionOf(name: string, description: string, parse?: (text: string) => unknown): Option {
  const made = new Option(name, description);
  return parse === undefined ? made : made.argParser(parse);
}

/** Declares an option whose value is one of several words. */
export const choice = <const Word extends string>(
  name: string,
  description: string,
  words: readonly Word[],
) => parameter<Word | undefined>(new Option(name, description).choices(words));

interface Declaration<Args extends Parameters, Options extends Parameters, Result> {
  name: string;
  description: string;
  /** Arguments, in the order in which they are given. */
  args?: Args;
  options?: Options;
  /** Sample call to paste, without the program's name. */
  example: string;
  /** Does the work. Returns null if everything has already been printed. */
  run(
    input: Values<Args> & Values<Options>,
    context: CliContext,
  ): Result | null | Promise<Result | null>;
  /** Returns the value that `--json` prints, if that is not the result itself. */
  json?(result: Result, input: Values<Args> & Values<Options>): unknown;
  /** Returns the text for people. A command without it prints its own output, and `--json` is not added. */
  text?(result: Result, input: Values<Args> & Values<Options>, context: CliContext): string;
  /** Returns the error that the command fails with after its result is printed. Returns null if it succeeds. */
  fault?(result: Result, context: CliContext): unknown;
  /** Reports whether standard output carries something else, so that the result goes to standard error. */
  isAside?(input: Values<Args> & Values<Options>): boolean;
}

export const jsonFlag = flag("--json", "print the result as JSON");

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

/** Makes a family of commands, which share their first word. */
export const family =
  (name: string, description: string, members: readonly AddCommands[]): AddCommands =>
  (program, context) => {
    const made = program.command(name).description(description);
    for (const add of members) add(made, context);
  };
