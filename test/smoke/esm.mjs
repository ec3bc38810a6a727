import * as root from 'nestjs-agent-sessions';
import * as adk from 'nestjs-agent-sessions/adk';
import * as agents from 'nestjs-agent-sessions/agents';
import * as aiSdk from 'nestjs-agent-sessions/ai-sdk';
import * as claudeAgent from 'nestjs-agent-sessions/claude-agent';
import * as mcp from 'nestjs-agent-sessions/mcp';
import * as components from 'nestjs-agent-sessions/components';
import * as search from 'nestjs-agent-sessions/search';
import * as doctor from 'nestjs-agent-sessions/doctor';
import * as config from 'nestjs-agent-sessions/config';
import * as graphql from 'nestjs-agent-sessions/graphql';
import * as health from 'nestjs-agent-sessions/health';
import * as a2a from 'nestjs-agent-sessions/a2a';
import * as agUi from 'nestjs-agent-sessions/ag-ui';
import * as adapter from 'nestjs-agent-sessions/adapter';
import * as langgraph from 'nestjs-agent-sessions/langgraph';
import * as openaiAgents from 'nestjs-agent-sessions/openai-agents';
import * as redis from 'nestjs-agent-sessions/redis';
import * as vertex from 'nestjs-agent-sessions/vertex';
import * as rest from 'nestjs-agent-sessions/rest';
import * as storage from 'nestjs-agent-sessions/storage';
import * as summarizer from 'nestjs-agent-sessions/summarizer';
import * as telemetry from 'nestjs-agent-sessions/telemetry';
import * as testing from 'nestjs-agent-sessions/testing';
import * as transfer from 'nestjs-agent-sessions/transfer';
import * as typeorm from 'nestjs-agent-sessions/typeorm';
import checkPackage from './check-package.cjs';

await checkPackage({
  root,
  adapter,
  agents,
  components,
  search,
  mcp,
  aiSdk,
  claudeAgent,
  transfer,
  doctor,
  config,
  health,
  telemetry,
  adk,
  a2a,
  agUi,
  langgraph,
  openaiAgents,
  typeorm,
  redis,
  vertex,
  rest,
  graphql,
  summarizer,
  storage,
  testing,
});
console.log('smoke test passed: ES modules');
