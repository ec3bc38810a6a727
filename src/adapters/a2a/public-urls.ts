import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';

const NOT_PUBLIC = new BlockList();

for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const) {
  NOT_PUBLIC.addSubnet(network, prefix);
}

// Also those that stand for addresses of IPv4: translated, Teredo, 6to4. Node checks mapped ones as what they stand for.
for (const [network, prefix] of [
  ['::', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 32],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const) {
  NOT_PUBLIC.addSubnet(network, prefix, 'ipv6');
}

/**
 * Whether the URL is https, and every address of its host is public. A host may get another address later: behind
 * this, let notifications leave through a proxy that checks the address it connects to.
 *
 * @example if (await isPublicUrl(new URL(config.url))) await save(config);
 */
export async function isPublicUrl({ protocol, hostname }: URL): Promise<boolean> {
  if (protocol !== 'https:') return false;
  const host = hostname.replaceAll(/^\[|\]$/g, '');
  const found = isIP(host) === 0 ? await addressesOf(host) : [host];
  return (
    found.length > 0 && found.every((address) => !NOT_PUBLIC.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4'))
  );
}

async function addressesOf(host: string): Promise<readonly string[]> {
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address);
  } catch {
    return [];
  }
}
