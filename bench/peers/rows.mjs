/**
 * A store as the workloads use it. `list` and `userState` are missing where the store has nothing like it.
 *
 * @typedef {object} Adapter
 * @property {(sessionId: string) => Promise<any>} create
 * @property {(sessionId: string) => Promise<any>} [find] the session as another process gets it
 * @property {(session: any, event: object) => Promise<unknown>} append
 * @property {(session: any) => Promise<readonly unknown[]>} readAll
 * @property {(session: any, count: number) => Promise<readonly unknown[]>} readNewest
 * @property {() => Promise<readonly unknown[]>} [list]
 * @property {() => Promise<Record<string, unknown>>} [userState] keys without `user:`
 * @property {() => Promise<void>} close
 */

/** What is measured: the package whose version is shown, the adapter's file and class, and the stores. */
export const SUBJECTS = [
  {
    label: 'this package',
    file: 'agent-sessions',
    type: 'AgentSessions',
    stores: ['memory', 'sqlite', 'redis', 'mariadb', 'postgres'],
  },
  { label: '@google/adk', file: 'google-adk', type: 'GoogleAdk', stores: ['memory', 'mariadb', 'postgres'] },
  { label: '@iqai/adk', file: 'iqai-adk', type: 'IqaiAdk', stores: ['memory', 'mariadb', 'postgres'] },
  { label: '@openai/agents', file: 'openai-agents', type: 'OpenaiAgents', stores: ['memory'] },
  { label: '@langchain/langgraph-checkpoint', file: 'langgraph', type: 'LangGraph', stores: ['memory'] },
  { label: '@langchain/langgraph-checkpoint-postgres', file: 'langgraph', type: 'LangGraph', stores: ['postgres'] },
  { label: '@langchain/redis', file: 'langchain-redis', type: 'LangChainRedis', stores: ['redis'] },
];

/** A row for each subject and store. */
export const ROWS = SUBJECTS.flatMap(({ stores, ...subject }) => stores.map((store) => ({ ...subject, store })));
