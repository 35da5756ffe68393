import { duration, integer } from './kinds.ts'
import { setting } from './setting.ts'

/** The settings of WebSockets. */
export const socketSettings = {
  MAX_WEBSOCKETS: setting(integer(0, 1_000_000), '10000', {
    desc: 'The most WebSockets that each process has open at a time; one organisation gets half of them. `0` accepts none.',
    example: '2000',
  }),
  WEBSOCKET_IDLE_TIMEOUT: setting(duration(1), '5m', {
    desc: 'How long a WebSocket stays open without a turn.',
    example: '15m',
  }),
  WEBSOCKET_MAX_TIME: setting(duration(1), '60m', {
    desc: 'How long a WebSocket stays open altogether. It ends after the turn that runs then.',
    example: '30m',
  }),
  WEBSOCKET_PING_INTERVAL: setting(duration(1), '20s', {
    desc: 'How often the client of a WebSocket is asked for a sign of life, and whether its key is still good is checked. A client that gives none three times in a row is cut off.',
    example: '30s',
  }),
}
