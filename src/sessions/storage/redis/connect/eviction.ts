import { Cluster } from 'ioredis';
import type { RedisClient } from './redis-options.js';

/** What to say if the servers may remove keys to get memory: parts of sessions would be gone, and nobody would know. */
export async function evictionWarnings(client: RedisClient): Promise<string[]> {
  const nodes = client instanceof Cluster ? client.nodes('master') : [client];
  const policies = await Promise.all(nodes.map(async (node) => evictionPolicyIn(await infoOf(node))));
  const evicting = [...new Set(policies)].filter((policy) => policy !== undefined);
  return evicting.map(
    (policy) =>
      `Redis removes parts of sessions when its memory is full: its maxmemory-policy is ${policy}. Set it to noeviction.`,
  );
}

/** CONFIG is forbidden on many servers, and INFO tells the same. Without a limit nothing is evicted. */
function evictionPolicyIn(info: string): string | undefined {
  const valueOf = (name: string): string | undefined => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1];
  const policy = valueOf('maxmemory_policy');
  return policy === 'noeviction' || valueOf('maxmemory') === '0' ? undefined : policy;
}

/** The user may lack the permission, and the node may not answer: then nothing is known, and no work fails for that. */
function infoOf(node: { info(section: 'memory'): Promise<string> }): Promise<string> {
  return node.info('memory').catch(() => '');
}
