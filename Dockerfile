# One image for all apps; docker-compose.yml says which one a container runs.
FROM node:24-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages packages
COPY apps apps
# Nothing here needs an install script: native parts come ready in their packages.
RUN npm ci --omit=dev --ignore-scripts && npm cache clean --force

FROM node:24-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=dependencies /app ./
COPY config config
# A volume that is mounted here belongs to the same user.
RUN mkdir /outbox && chown node:node /outbox
USER node
CMD ["node", "apps/gateway/src/main.ts"]
