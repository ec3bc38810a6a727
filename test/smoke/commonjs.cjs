const checkPackage = require('./check-package.cjs');

void checkPackage({
  root: require('nestjs-agent-sessions'),
  agents: require('nestjs-agent-sessions/agents'),
  transfer: require('nestjs-agent-sessions/transfer'),
  components: require('nestjs-agent-sessions/components'),
  doctor: require('nestjs-agent-sessions/doctor'),
  agentsRest: require('nestjs-agent-sessions/agents/rest'),
  agentsGraphql: require('nestjs-agent-sessions/agents/graphql'),
  config: require('nestjs-agent-sessions/config'),
  health: require('nestjs-agent-sessions/health'),
  langgraph: require('nestjs-agent-sessions/langgraph'),
  typeorm: require('nestjs-agent-sessions/typeorm'),
  redis: require('nestjs-agent-sessions/redis'),
  vertex: require('nestjs-agent-sessions/vertex'),
  openapi: require('nestjs-agent-sessions/openapi'),
  rest: require('nestjs-agent-sessions/rest'),
  summarizer: require('nestjs-agent-sessions/summarizer'),
  summarizerRest: require('nestjs-agent-sessions/summarizer/rest'),
  summarizerGraphql: require('nestjs-agent-sessions/summarizer/graphql'),
  storage: require('nestjs-agent-sessions/storage'),
  testing: require('nestjs-agent-sessions/testing'),
}).then(() => console.log('smoke test passed: CommonJS'));
