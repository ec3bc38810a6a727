import { Cluster, Redis } from 'ioredis';
import { DataSource } from 'typeorm';
import { storePlaceOf } from '../../src/config/store-place.js';
import type { StoreSettings } from '../../src/config/store-settings.js';

const lazy = { lazyConnect: true } as const;
const login = 'ann:hunter2';

const places: readonly (readonly [settings: StoreSettings, place: string])[] = [
  [{ provider: 'memory' }, 'memory: they are gone when this process ends'],
  [
    { provider: 'vertex', vertex: { project: 'p-1', location: 'us-central1', reasoningEngine: '77' } },
    'Vertex AI, project p-1 in us-central1, reasoning engine 77',
  ],
  [{ provider: 'redis' }, 'Redis at 127.0.0.1:6379, database 0'],
  [{ provider: 'redis', redis: { url: `rediss://${login}@cache/3` } }, 'Redis at cache:6379, database 3'],
  [{ provider: 'redis', redis: { url: 'redis://[::1]:7000' } }, 'Redis at [::1]:7000, database 0'],
  [
    { provider: 'redis', redis: { url: 'redis://cache', connection: { host: 'other', db: 2, password: 'hunter2' } } },
    'Redis at cache:6379, database 2',
  ],
  [{ provider: 'redis', redis: { connection: { path: '/run/redis.sock' } } }, 'Redis at /run/redis.sock, database 0'],
  [
    { provider: 'redis', redis: { connection: { sentinels: [{ host: 'a', port: 1 }, { host: 'b' }], name: 'main' } } },
    'Redis, the master "main" of the Sentinels at a:1, b:26379, database 0',
  ],
  [
    {
      provider: 'redis',
      redis: {
        cluster: [
          { host: 'a', port: 7000 },
          { host: '::1', port: 7001 },
        ],
      },
    },
    'Redis Cluster at a:7000, [::1]:7001',
  ],
  [
    { provider: 'redis', redis: { client: new Redis(`redis://${login}@cache:7/1`, lazy) } },
    "Redis at cache:7, database 1, over the app's own client",
  ],
  [
    { provider: 'redis', redis: { client: new Cluster([{ host: 'a', port: 1 }], lazy) } },
    "Redis Cluster, over the app's own client",
  ],
  [{ provider: 'typeorm', database: { database: '/var/a.db' } }, 'SQLite, /var/a.db'],
  [{ provider: 'typeorm', database: { database: ':memory:' } }, 'SQLite, :memory:'],
  [
    { provider: 'typeorm', database: { url: `mysql://${login}@db/my%20agents` } },
    'MySQL or MariaDB at db:3306, database "my agents"',
  ],
  [
    { provider: 'typeorm', database: { url: `mysql://${login}@db/a`, driverOptions: { socketPath: '/run/m.sock' } } },
    'MySQL or MariaDB at /run/m.sock, database "a"',
  ],
  [
    { provider: 'typeorm', database: { url: `postgres://${login}@db:7/a?sslmode=require`, schema: 'x' } },
    'PostgreSQL at db:7, database "a", schema "x"',
  ],
  [
    {
      provider: 'typeorm',
      database: {
        dataSource: new DataSource({ type: 'postgres', host: 'db', port: 7, database: 'a', password: 'hunter2' }),
      },
    },
    'PostgreSQL at db:7, database "a", over the app\'s own DataSource',
  ],
  [
    {
      provider: 'typeorm',
      database: { dataSource: new DataSource({ type: 'mysql', url: `mysql://${login}@db/a%zz` }) },
    },
    "MySQL or MariaDB at db, over the app's own DataSource",
  ],
];

describe('storePlaceOf', () => {
  it.each(places)('describes %j without user and password', (settings, place) => {
    expect(storePlaceOf(settings)).toBe(place);
    expect(place).not.toMatch(/hunter2|ann/);
  });
});
