/** The egress as features use it, and the hosts that it lets requests go to. */
export { type AllowedHosts, parseAllowedHosts } from '../egress/allowed-hosts.ts'
export type { Egress, SmallRequest, SmallResponse } from '../egress/egress.ts'
export type { ProxySettings } from '../egress/proxies.ts'
export type { Upgrade } from '../egress/web-socket.ts'
