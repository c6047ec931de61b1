/** Writes metrics in the text format of Prometheus, version 0.0.4. */
import type { Labels, Metric } from "./metric.ts";

export const expositionType = "text/plain; version=0.0.4; charset=utf-8";

/** Returns the text of metrics: https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format */
export function exposition(metrics: readonly Metric[]): string {
  let text = "";
  for (const { name, type, help, samples } of metrics) {
    text += `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`;
    for (const { suffix = "", labels, value } of samples())
      text += `${name}${suffix}${labelsText(labels)} ${numberText(value)}\n`;
  }
  return text;
}

function labelsText(labels: Labels | undefined): string {
  const pairs = Object.entries(labels ?? {}).map(([name, value]) => `${name}="${escape(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

const escapeHelp = (text: string) => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
const escape = (text: string) => escapeHelp(text).replaceAll('"', '\\"');

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
}
