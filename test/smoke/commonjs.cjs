const checkPackage = require('./check-package.cjs');

void checkPackage({
  root: require('nestjs-agent-sessions'),
  typeorm: require('nestjs-agent-sessions/typeorm'),
  redis: require('nestjs-agent-sessions/redis'),
  testing: require('nestjs-agent-sessions/testing'),
}).then(() => console.log('smoke test passed: CommonJS'));
