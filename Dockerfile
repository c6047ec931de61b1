# The service as an image: `docker build -t gp-records .`; compose.yaml and deploy/kubernetes/ run it. It runs as
# user 999 on a root that may be read-only, starts no shell, and writes only into DATA_DIR and /tmp.
ARG BASE=docker.io/library/debian:13-slim

FROM $BASE AS build
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates npm
WORKDIR /opt/gp-records
COPY package.json package-lock.json .npmrc ./
# The packages bring the Node that runs the service; Debian's is for npm. The secret names a registry of your own, if there is one.
RUN --mount=type=secret,id=npmrc,target=/root/.npmrc npm ci --omit=dev
COPY . .
# The package of Node has another name for each kind of machine, and an older npm makes no link to it.
RUN ln -s node_modules/node-linux-*/bin/node node

FROM $BASE
# Node is linked against it, and slim images lack it.
RUN apt-get update \
 && apt-get install -y --no-install-recommends libatomic1 \
 && rm -rf /var/lib/apt/lists/* \
 && install -d -o 999 -g 999 -m 0700 /var/lib/gp-records
COPY --from=build /opt/gp-records /opt/gp-records
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/var/lib/gp-records
WORKDIR /opt/gp-records
USER 999:999
VOLUME /var/lib/gp-records
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["/opt/gp-records/node", "-e", "fetch('http://127.0.0.1:8080/ready').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["/opt/gp-records/node", "/opt/gp-records/bin/gp-records"]
CMD ["serve"]
