import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { type TSchema, Type } from "typebox";
import { Compile } from "typebox/compile";
import { settingNames } from "#config/settings.ts";
import { readYaml } from "./support/read-yaml.ts";

/** An object with these members and no other: a misspelt one is a fault, which the tools themselves pass over. */
const exact = (members: Record<string, TSchema>) =>
  Type.Object(members, { additionalProperties: false });
const maybe = Type.Optional;
const text = Type.String({ minLength: 1 });
const texts = Type.Array(text, { minItems: 1 });
const duration = Type.String({ pattern: "^\\d+[sm]$" });
const name = Type.String({ pattern: "^[a-z][a-z0-9-]*$" });
const named = (value: TSchema) => Type.Record(name, value);
const port = Type.Integer({ minimum: 1, maximum: 65_535 });
const quantity = Type.String({ pattern: "^\\d+(?:m|Mi|Gi)$" });

function assertFits(schema: TSchema, value: unknown, where: string): void {
  const faults = [...Compile(schema).Errors(value)].map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  );
  assert.deepEqual(faults, [], where);
}

/** Of the Compose Specification, what compose.yaml uses. */
const composeService = exact({
  image: text,
  build: maybe(Type.Literal(".")),
  environment: maybe(Type.Record(Type.String({ pattern: "^[A-Z][A-Z_]*$" }), text)),
  command: maybe(texts),
  secrets: maybe(texts),
  volumes: maybe(texts),
  tmpfs: maybe(texts),
  ports: maybe(texts),
  read_only: maybe(Type.Boolean()),
  cap_drop: maybe(texts),
  security_opt: maybe(texts),
  restart: Type.Union([Type.Literal("no"), Type.Literal("unless-stopped")]),
  stop_grace_period: maybe(duration),
  depends_on: maybe(
    named(
      exact({
        condition: Type.Union([
          Type.Literal("service_healthy"),
          Type.Literal("service_completed_successfully"),
        ]),
      }),
    ),
  ),
  healthcheck: maybe(exact({ test: texts, interval: duration })),
});
const compose = exact({
  name,
  "x-program": Type.Unknown(),
  services: named(composeService),
  networks: exact({
    default: exact({ ipam: exact({ config: Type.Array(exact({ subnet: text })) }) }),
  }),
  volumes: named(Type.Null()),
  secrets: named(exact({ file: text })),
});

const labels = exact({ app: name });
const metadata = exact({ name, labels: maybe(labels) });
const probe = exact({
  httpGet: exact({ path: text, port: text }),
  periodSeconds: port,
  timeoutSeconds: port,
  failureThreshold: port,
});
const container = exact({
  name,
  image: text,
  args: texts,
  env: Type.Array(exact({ name: text, value: text })),
  ports: maybe(Type.Array(exact({ name, containerPort: port }))),
  livenessProbe: maybe(probe),
  readinessProbe: maybe(probe),
  lifecycle: maybe(exact({ preStop: exact({ sleep: exact({ seconds: port }) }) })),
  resources: exact({
    requests: exact({ cpu: quantity, memory: quantity }),
    limits: exact({ memory: quantity }),
  }),
  securityContext: exact({
    allowPrivilegeEscalation: Type.Literal(false),
    readOnlyRootFilesystem: Type.Literal(true),
    capabilities: exact({ drop: Type.Tuple([Type.Literal("ALL")]) }),
  }),
  volumeMounts: Type.Array(exact({ name, mountPath: text, readOnly: maybe(Type.Boolean()) })),
});
const podSpec = exact({
  automountServiceAccountToken: Type.Literal(false),
  restartPolicy: maybe(Type.Literal("Never")),
  terminationGracePeriodSeconds: maybe(port),
  topologySpreadConstraints: maybe(
    Type.Array(
      exact({
        maxSkew: Type.Literal(1),
        topologyKey: text,
        whenUnsatisfiable: Type.Literal("ScheduleAnyway"),
        labelSelector: exact({ matchLabels: labels }),
      }),
    ),
  ),
  securityContext: exact({
    runAsNonRoot: Type.Literal(true),
    runAsUser: Type.Literal(999),
    runAsGroup: Type.Literal(999),
    fsGroup: Type.Literal(999),
    seccompProfile: exact({ type: Type.Literal("RuntimeDefault") }),
  }),
  containers: Type.Array(container, { minItems: 1, maxItems: 1 }),
  volumes: Type.Array(
    exact({
      name,
      emptyDir: maybe(exact({ sizeLimit: quantity })),
      secret: maybe(exact({ secretName: name, defaultMode: Type.Literal(0o440) })),
    }),
  ),
});
const template = exact({ metadata: exact({ labels }), spec: podSpec });
const resource = (apiVersion: string, kind: string, spec: TSchema) =>
  exact({ apiVersion: Type.Literal(apiVersion), kind: Type.Literal(kind), metadata, spec });

/** Of the API of Kubernetes, what the manifests use. */
const manifests: Readonly<Record<string, TSchema>> = {
  deployment: resource(
    "apps/v1",
    "Deployment",
    exact({
      replicas: Type.Integer({ minimum: 2 }),
      strategy: exact({
        type: Type.Literal("RollingUpdate"),
        rollingUpdate: exact({ maxUnavailable: Type.Literal(0), maxSurge: Type.Literal(1) }),
      }),
      selector: exact({ matchLabels: labels }),
      template,
    }),
  ),
  "disruption-budget": resource(
    "policy/v1",
    "PodDisruptionBudget",
    exact({ minAvailable: port, selector: exact({ matchLabels: labels }) }),
  ),
  migrate: resource(
    "batch/v1",
    "Job",
    exact({ backoffLimit: Type.Integer({ minimum: 0 }), template }),
  ),
  service: resource(
    "v1",
    "Service",
    exact({ selector: labels, ports: Type.Array(exact({ name, port, targetPort: name })) }),
  ),
};

const read = (path: string) => readYaml(readFileSync(path, "utf8"));
const manifest = (file: string) => read(`deploy/kubernetes/${file}.yaml`);
const dockerfile = readFileSync("Dockerfile", "utf8");
const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
/** Of the settings that come with several instances. */
const programNames = (all: object) => Object.keys(all).map((one) => one.replace(/_FILE$/, ""));

test("compose.yaml says nothing that Compose does not know, and names nothing that is not there", () => {
  const file = read("compose.yaml");
  assertFits(compose, file, "compose.yaml");
  const { services, volumes, secrets } = file;
  const used = { volumes: new Set<string>(), secrets: new Set<string>() };
  for (const service of Object.values<any>(services)) {
    for (const other of Object.keys(service.depends_on ?? {})) assert.ok(other in services, other);
    for (const volume of (service.volumes ?? []) as string[])
      if (!volume.startsWith("./")) used.volumes.add(volume.split(":")[0]!);
    for (const secret of service.secrets ?? []) used.secrets.add(secret);
    for (const value of Object.values<string>(service.environment ?? {}))
      if (value.startsWith("/run/secrets/"))
        assert.ok(service.secrets.includes(value.slice("/run/secrets/".length)), value);
  }
  assert.deepEqual([...used.volumes].toSorted(), Object.keys(volumes).toSorted());
  assert.deepEqual([...used.secrets].toSorted(), Object.keys(secrets).toSorted());
});

test("in compose.yaml both instances are alike but for their volume, locked down, and known to Caddy", () => {
  const { services, networks } = read("compose.yaml");
  const { "gp-records-1": first, "gp-records-2": second, caddy, migrate, valkey } = services;
  assert.deepEqual({ ...first, volumes: null }, { ...second, volumes: null });
  assert.notDeepEqual(first.volumes, second.volumes);
  for (const one of [first, migrate]) {
    assert.equal(one.read_only, true);
    assert.deepEqual(one.cap_drop, ["ALL"]);
    assert.equal(one.image, `ghcr.io/gp-records/gp-records:${version}`);
  }
  assert.deepEqual(migrate.command, ["migrate"]);
  assert.equal(caddy.environment.INSTANCES, "gp-records-1:8080 gp-records-2:8080");
  assert.equal(first.environment.TRUSTED_PROXIES, networks.default.ipam.config[0].subnet);
  const policy = valkey.command.indexOf("--maxmemory-policy");
  assert.equal(valkey.command[policy + 1], "noeviction");
  assert.equal(valkey.command[valkey.command.indexOf("--appendonly") + 1], "yes");
});

test("the manifests say nothing that Kubernetes does not know", () => {
  const files = globSync("deploy/kubernetes/*").map((path) =>
    path.slice("deploy/kubernetes/".length, -".yaml".length),
  );
  assert.deepEqual(files.toSorted(), Object.keys(manifests).toSorted());
  for (const file of files) assertFits(manifests[file]!, manifest(file), file);
});

test("the manifests fit together: labels, ports, volumes, and one instance that stays while another is replaced", () => {
  const { spec: deployment } = manifest("deployment");
  const [server] = deployment.template.spec.containers;
  const { app } = deployment.template.metadata.labels;
  assert.equal(deployment.selector.matchLabels.app, app);
  assert.equal(manifest("service").spec.selector.app, app);
  const budget = manifest("disruption-budget").spec;
  assert.equal(budget.selector.matchLabels.app, app);
  assert.ok(budget.minAvailable < deployment.replicas);
  // Else the service would send requests to it.
  assert.notEqual(manifest("migrate").spec.template.metadata.labels.app, app);
  const ports = Object.fromEntries(server.ports.map((one: any) => [one.name, one.containerPort]));
  assert.equal(ports[manifest("service").spec.ports[0].targetPort], 8080);
  assert.deepEqual(server.livenessProbe.httpGet, { path: "/health", port: "admin" });
  assert.deepEqual(server.readinessProbe.httpGet, { path: "/ready", port: "http" });
  const admin = server.env.find((one: any) => one.name === "ADMIN_ADDRESS").value;
  assert.equal(admin, `0.0.0.0:${ports.admin}`);
  for (const file of ["deployment", "migrate"]) {
    const { containers, volumes } = manifest(file).spec.template.spec;
    assert.equal(containers[0].image, `ghcr.io/gp-records/gp-records:${version}`);
    assert.deepEqual(
      containers[0].volumeMounts.map((one: any) => one.name),
      volumes.map((one: any) => one.name),
    );
  }
});

test("no setting in compose.yaml or in a manifest is misspelt", () => {
  // These come with the engines of several instances.
  const known = new Set<string>(settingNames);
  const { services } = read("compose.yaml");
  const given = [
    ...["migrate", "gp-records-1", "gp-records-2"].flatMap((one) =>
      programNames(services[one].environment),
    ),
    ...["deployment", "migrate"].flatMap((file) =>
      programNames(
        Object.fromEntries(
          manifest(file).spec.template.spec.containers[0].env.map((one: any) => [one.name, one]),
        ),
      ),
    ),
  ];
  assert.ok(given.length > 10);
  for (const one of given) assert.ok(known.has(one), one);
});

test("the image runs as user 999, without a shell, and has all of what the program reads", () => {
  assert.match(dockerfile, /^USER 999:999$/m);
  for (const word of ["ENTRYPOINT", "CMD", "HEALTHCHECK .* CMD"])
    assert.match(dockerfile, new RegExp(`^${word} \\[`, "m"));
  const [, environment = ""] = /^ENV (.+)$/m.exec(dockerfile)!;
  for (const setting of environment.split(" "))
    assert.ok(settingNames.includes(setting.split("=")[0]!), setting);
  const { files } = JSON.parse(readFileSync("package.json", "utf8")) as { files: string[] };
  const inImage = new Set(
    [...readFileSync(".dockerignore", "utf8").matchAll(/^!(.+)$/gm)].map(([, one]) => one),
  );
  const notRead = ["deploy", ".env.example", "ARCHITECTURE.md", "SECURITY.md"];
  for (const file of files.filter((one) => !one.startsWith("!") && !notRead.includes(one)))
    // A package has JavaScript in place of the source, an image the source.
    assert.ok(inImage.has(file === "lib" ? "src" : file), file);
});
