import { duration, integer, size } from './kinds.ts'
import { setting } from './setting.ts'

const MiB = 1024 * 1024

/** The settings of the traffic with MCP servers. */
export const mcpSettings = {
  MCP_REQUEST_TIMEOUT: setting(duration(1), '60s', {
    desc: 'How long an MCP server may be silent in a call.',
    example: '120s',
  }),
  MCP_MAX_TIME: setting(duration(1), '10m', {
    desc: 'How long one call of an MCP server takes at most.',
    example: '30m',
  }),
  MCP_MAX_REQUEST_IN_MB: setting(size(MiB, { least: 0.001, most: 1024 }), '4', {
    desc: 'The largest request to an MCP server.',
    example: '8',
  }),
  MCP_MAX_RESULT_IN_MB: setting(size(MiB, { least: 0.001, most: 1024 }), '16', {
    desc: 'The largest result of an MCP server.',
    example: '32',
  }),
  MAX_MCP_SESSIONS: setting(integer(1, 1_000_000), '10000', {
    desc: 'The most sessions of MCP before 2026-07-28 that each process keeps, with clients and with servers each; one organisation gets half of them.',
    example: '2000',
  }),
  MCP_SESSION_IDLE_TIMEOUT: setting(duration(1), '5m', {
    desc: 'How long a session with an MCP server stays open without use.',
    example: '15m',
  }),
  MCP_SUBSCRIPTIONS: setting(integer(1, 10_000), '10', {
    desc: 'The most streams of MCP that one user, or one service key, has open in each process.',
    example: '20',
  }),
}
