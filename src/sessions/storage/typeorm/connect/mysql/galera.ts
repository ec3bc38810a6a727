/** Asks whether the server is a node of a Galera cluster. Never fails: a server without Galera knows no such variable. */
export const ASK_GALERA = "SHOW SESSION VARIABLES LIKE 'wsrep_on'";

/** Whether the answer to {@link ASK_GALERA} is yes. */
export function isYes(answer: unknown): boolean {
  const [variable] = answer as readonly { readonly Value?: string }[];
  return variable?.Value === 'ON';
}

/** For each connection of the store to a node: a transaction waits until the node has what other nodes have acknowledged. */
export const GALERA_SETTINGS: readonly string[] = ['SET SESSION wsrep_sync_wait = @@SESSION.wsrep_sync_wait | 1'];

/** What the servers of connections have answered. A lent connection of an app stands for the same connection of its pool. */
const areNodes = new WeakMap<object, boolean>();

/** Whether its server is a node of a Galera cluster. Asks once per connection, because another server may take its place. */
export async function isGaleraNode(connection: object, ask: (query: string) => Promise<unknown>): Promise<boolean> {
  const known = areNodes.get(connection);
  if (known !== undefined) return known;
  const isNode = isYes(await ask(ASK_GALERA));
  areNodes.set(connection, isNode);
  return isNode;
}

/** Whether the server has answered that it is none. */
export function isKnownAsSingle(connection: object): boolean {
  return areNodes.get(connection) === false;
}
