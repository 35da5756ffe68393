/** The one part of undici that the gateway uses. Its index would load fetch, WebSocket, caches and mocks too: 14 MB and 80 ms of every start. */
declare module 'undici/lib/dispatcher/client.js' {
  import { Client } from 'undici'
  export default Client
}
