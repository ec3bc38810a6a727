import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { Dockerfile } from './dockerfile.js';

interface Dependency {
  readonly condition: string;
  readonly required?: boolean;
}

/** A service of `compose.yaml`, as far as ours say something. */
export interface ComposeService {
  readonly image: string;
  readonly build?: string;
  readonly profiles: readonly string[];
  readonly environment?: Readonly<Record<string, string | number>>;
  readonly depends_on?: Readonly<Record<string, Dependency>>;
  readonly healthcheck?: object;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly stop_grace_period?: string;
  readonly deploy?: { readonly replicas: number };
  readonly networks?: { readonly default: { readonly aliases: readonly string[] } };
}

interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

export const compose = parse(readFileSync('compose.yaml', 'utf8'), { merge: true }) as ComposeFile;

export const PROFILES = ['redis', 'postgres', 'mariadb'] as const;

/** The services that `docker compose --profile` starts. */
export function servicesOf(profile: string): Readonly<Record<string, ComposeService>> {
  return Object.fromEntries(Object.entries(compose.services).filter(([, { profiles }]) => profiles.includes(profile)));
}

/** The app of a profile, and all that is in its environment. */
export function appOf(profile: string): {
  readonly app: ComposeService;
  readonly env: Readonly<Record<string, string>>;
} {
  const [app, ...others] = Object.values(servicesOf(profile)).filter(({ build }) => build !== undefined);
  if (!app || others.length > 0) throw new Error(`${profile} has not one app`);
  const own = Object.entries(app.environment ?? {}).map(([name, value]) => [name, String(value)]);
  return { app, env: { ...new Dockerfile('Dockerfile').env, ...Object.fromEntries(own) } };
}
