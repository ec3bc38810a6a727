'use strict';

const { LAYER } = process.env;
if (LAYER && LAYER !== 'fast' && LAYER !== 'full') throw new Error(`LAYER is ${LAYER}; there are fast and full`);
const name = LAYER || undefined;
const isFast = name === 'fast';

/**
 * Specs, or folders, that only `npm run test:full` runs, as paths below `test`, by the reason. The fast layer also leaves
 * out stores and frameworks, and tries less: see `storesAboveThePort`, `storeOfEachKind`, `sqlBenchOfEachKind`, `usualNames`,
 * `frameworks`, `crowd` and `runsOr`.
 */
const FULL_ONLY = {
  'install the package into new apps, or into an image': ['app/newcomer', 'containers/image'],
  'start the whole app, or an example, in a process for each test': [
    'app/answer-attacks',
    'app/attacks',
    'app/demo',
    'app/demo-agent.e2e',
    'app/examples',
    'app/graceful-shutdown',
    'app/graphql-on-demand',
    'app/loaded-files',
    'app/metrics',
    'app/search',
    'app/start',
    'app/summary-queue',
    'module/open-handles',
    'module/own-app',
  ],
  'need Chromium': [
    'browser/chat-page.e2e',
    'browser/pages.e2e',
    'browser/use-chat.e2e',
    'inspector/access.e2e',
    'inspector/charts.e2e',
    'inspector/panels.e2e',
    'inspector/requests.e2e',
    'inspector/search.e2e',
    'inspector/sessions.e2e',
    'inspector/share.e2e',
    'inspector/sign-in.e2e',
  ],
  'start servers of their own': [
    'containers/proxy',
    'encryption/canary',
    'processes/failover',
    'processes/server-kill',
    'redis/dead-nodes',
    'redis/eviction',
    'redis/failover',
    'redis/refused-commands',
    'redis/sentinel',
    'sql/galera',
    'sql/poolers',
    'sql/reads',
    'sql/reads-contract',
    'sql/server-settings',
    'sql/sql-mode',
    'sql/standby',
    'tls',
  ],
  'wait for time limits of connections, locks and keys': [
    'redis/dead-connections',
    'redis/expiry',
    'redis/lost-responses',
    'sql/closing',
    'sql/deadlocks',
    'sql/host-data-source',
    'sql/lock-waits',
    'sql/locked-sessions',
    'sql/network-faults',
    'sql/unresponsive-connections',
    'summarizer/lost-acknowledgements',
  ],
  'repeat in many processes what other specs of their folder prove': [
    'processes/ended-connections',
    'processes/many-turns',
    'processes/rolling-restart',
    'processes/summary-kill',
  ],
  'create tables again and again': ['search/schema'],
  'walk again over all routes, as adapters/all/walk does': ['auth/audit.e2e', 'auth/identities.e2e'],
  'fill databases of other systems': ['transfer/adk-service', 'transfer/foreign-servers', 'transfer/langgraph-savers'],
  'fill the buffers of sockets, the memory of processes, or a store': [
    'adapters/all/bounded-reads',
    'agents/waiting-memory',
    'graphql/unread-streams.e2e',
    'redis/large-log',
    'rest/slow-reader.e2e',
    'service/large-states',
  ],
  'repeat a contract with another storage, or through a transport': [
    'encryption/contract',
    'encryption/storage',
    'transports/graphql-contract',
    'transports/rest-contract',
  ],
  'are about a service of Google': ['vertex'],
  'build again and again': ['unit/build-stamp'],
};

const left = Object.values(FULL_ONLY).flat();

module.exports = {
  name,
  isFast,
  FULL_ONLY,

  has(spec, inFast = isFast) {
    return !inFast || !left.some((path) => spec === path || spec.startsWith(`${path}/`));
  },

  lines(layer = name) {
    if (!layer) return [];
    if (layer === 'full') return ['Layer: full (all specs)'];
    return [
      'Layer: fast. What is built on the stores runs on one of them, and on Express. Left to `npm run test:full`, because they',
      ...Object.entries(FULL_ONLY).map(([reason, paths]) => `  ${reason}: ${paths.join(', ')}`),
    ];
  },
};
