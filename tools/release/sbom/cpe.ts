/** Vendor and product of the National Vulnerability Database, by Debian's name of a source package, without a version at its end. */
const products: Readonly<Record<string, string>> = {
  'cyrus-sasl': 'cyrusimap:cyrus-sasl',
  e2fsprogs: 'e2fsprogs_project:e2fsprogs',
  gcc: 'gnu:gcc',
  glibc: 'gnu:glibc',
  icu: 'unicode:international_components_for_unicode',
  krb: 'mit:kerberos_5',
  libcap: 'libcap_project:libcap',
  libxml: 'xmlsoft:libxml2',
  libzstd: 'facebook:zstandard',
  lz: 'lz4_project:lz4',
  openldap: 'openldap:openldap',
  openssl: 'openssl:openssl',
  pam: 'linux-pam:linux-pam',
  postgresql: 'postgresql:postgresql',
  systemd: 'systemd_project:systemd',
  'xz-utils': 'tukaani:xz',
  zlib: 'zlib:zlib',
}

/** The same by the names that Node gives to its own dependencies; those that have no entry there are in no list of vulnerabilities. */
export const nodeProducts: Readonly<Record<string, string>> = {
  ares: 'c-ares:c-ares',
  brotli: 'google:brotli',
  icu: 'unicode:international_components_for_unicode',
  llhttp: 'llhttp:llhttp',
  nghttp2: 'nghttp2:nghttp2',
  node: 'nodejs:node.js',
  openssl: 'openssl:openssl',
  sqlite: 'sqlite:sqlite',
  undici: 'nodejs:undici',
  uv: 'libuv:libuv',
  v8: 'google:v8',
  zlib: 'zlib:zlib',
  zstd: 'facebook:zstandard',
}

/** The name under which scanners look a version up. */
export const cpeOf = (product: string, version: string): string =>
  `cpe:2.3:a:${product}:${version.replaceAll(/[^\w.-]/g, (sign) => `\\${sign}`)}:*:*:*:*:*:*:*`

/** Returns the name of a source package of Debian; one that is not in the database goes by the name that such products get there. */
export function cpeOfSource(source: string, version: string): string {
  const name = source.replace(/-?\d+(?:\.\d+)*$/, '')
  return cpeOf(products[name] ?? `${name}_project:${name}`, upstreamVersion(version))
}

/** The maker's version in one of Debian: `2.12.7+dfsg+really2.9.14-2.1` is 2.9.14. */
export const upstreamVersion = (version: string): string =>
  version
    .replace(/^\d+:/, '')
    .replace(/-[^-]*$/, '')
    .replace(/^.*\+really/, '')
    .replace(/[+.~](?:dfsg|ds|deb).*$/, '')
