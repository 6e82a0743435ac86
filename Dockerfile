# The controller, the wrapper and the DNS daemon: one file each on a plain Node. Build them first (npm ci && npm run build), then
#   docker build -t servicegroup:0.1.0 .
FROM node:26-slim
COPY dist/controller*.mjs dist/wrapper*.mjs dist/dns*.mjs /app/
USER 65532:65532
ENTRYPOINT ["node", "--memory-saver-mode", "--no-memory-pool", "--max-semi-space-size=2", "--heap-growing-percent=30", "--max-old-space-size=192", "/app/controller.mjs"]
