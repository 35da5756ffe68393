/** Ports of services that speak something else than HTTP, or HTTP that controls machines. An entry `host:port` in TRUSTED_CUSTOM_HOSTS opens one. */
export const blockedPorts: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110, 111, 113, 115, 117,
  119, 123, 135, 137, 138, 139, 143, 161, 162, 179, 389, 427, 445, 464, 465, 500, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554,
  556, 563, 587, 601, 623, 636, 873, 989, 990, 993, 995, 1099, 1433, 1434, 1521, 1719, 1720, 1723, 2049, 2181, 3268, 3269, 3306, 3389, 4045,
  5060, 5061, 5432, 5433, 5671, 5672, 5900, 5901, 5984, 5985, 5986, 6000, 6379, 6380, 6432, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697,
  9042, 9092, 9160, 11211, 26379, 2375, 2376, 2377, 2379, 2380, 4194, 6443, 8500, 8600, 9200, 9300, 10250, 10255, 10256, 10257, 10259,
  27017, 27018, 27019, 28017, 50070,
])

/** Returns whether a name is refused: `always` (instance metadata), `unless_trusted` (inside names, and services that name any address), or not. */
export function blockedName(hostname: string): 'always' | 'unless_trusted' | null {
  if (metadataNames.has(hostname)) return 'always'
  const parts = hostname.split('.')
  const first = parts[0] ?? ''
  if (blockedPrefixes.some((prefix) => first.startsWith(prefix))) return 'unless_trusted'
  return parts.some((_, index) => blockedSuffixes.has(parts.slice(index).join('.'))) ? 'unless_trusted' : null
}

const metadataNames: ReadonlySet<string> = new Set([
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'metadata.azure.internal',
  'metadata.oraclecloud.com',
  'metadata.tencentyun.com',
  'metadata.packet.net',
  'metadata.platformequinix.com',
  'metadata.service.consul',
  'instance-data',
  'instance-data.ec2.internal',
])

const blockedPrefixes = ['metadata', 'kubernetes', 'instance-data']

/** A name that is one of these or ends in one of them. */
const blockedSuffixes: ReadonlySet<string> = new Set([
  // names that stay inside a machine, a network or a cluster
  'localhost',
  'localhost6',
  'localdomain',
  'local',
  'internal',
  'intranet',
  'private',
  'corp',
  'home',
  'lan',
  'home.arpa',
  'in-addr.arpa',
  'ip6.arpa',
  'cluster.local',
  'svc',
  'consul',
  'onion',
  'ip6-localhost',
  'ip6-loopback',
  'broadcasthost',
  // public services whose names mean any address one writes into them
  'nip.io',
  'sslip.io',
  'xip.io',
  'xip.name',
  'backname.io',
  'traefik.me',
  'local.gd',
  'localtest.me',
  'lvh.me',
  'vcap.me',
  'lacolhost.com',
  'yoogle.com',
  'rbndr.us',
  '1u.ms',
  'burpcollaborator.net',
  'oastify.com',
  'interact.sh',
  'oast.fun',
  'oast.live',
  'oast.me',
  'oast.online',
  'oast.pro',
  'oast.site',
])
