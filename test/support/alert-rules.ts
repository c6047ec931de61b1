/** The rules for Prometheus that say what the alarms of the program say. */
import {
  type Alarm,
  alarms,
  countingAlone,
  documentation,
  growthSeconds,
  type Reading,
} from "#alarms/alarms.ts";
import type { Labels } from "#metrics/metric.ts";

const labelsText = (labels: Labels = {}) => {
  const pairs = Object.entries(labels).map(([name, text]) => `${name}="${text}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
};

function readingText({ as, metric, labels }: Reading): string {
  const samples = metric + labelsText(labels);
  if (as === "value") return samples;
  if (as === "age") return `time() - ${samples}`;
  return `sum by (job, instance) (increase(${samples}[${growthSeconds / 60}m]))`;
}

function expressionOf({ condition: { of, over, is, than, isCountingAlone } }: Alarm): string {
  const quotient = [of, ...(over === undefined ? [] : [over])].map(readingText).join(" / ");
  const guard = countingAlone.metric + labelsText(countingAlone.labels);
  const only =
    isCountingAlone === undefined
      ? ""
      : ` and on (job, instance) ${guard} == ${Number(isCountingAlone)}`;
  return `${quotient} ${is} ${than}${only}`;
}

const quoted = (text: string) => JSON.stringify(text);

/** In the order of the alarms, as the file has them. */
export const ruleTexts = alarms.map((alarm) => {
  const { name, severity, summary, remedy, section, holdSeconds } = alarm;
  return `\
      - alert: ${name}
        expr: ${expressionOf(alarm)}
${holdSeconds === 0 ? "" : `        for: ${holdSeconds / 60}m\n`}        labels:
          severity: ${severity}
        annotations:
          summary: ${quoted(`{{ $labels.instance }}: ${summary}`)}
          description: ${quoted(remedy)}
          runbook_url: ${documentation}#${section}
`;
});
