import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A certificate and its private key, in PEM, and where their files lie. */
export interface Certificate {
  readonly cert: string
  readonly key: string
  readonly certFile: string
  readonly keyFile: string
}

/** Whether certificates can be made here. */
export const hasOpenssl = (process.env['PATH'] ?? '').split(':').some((folder) => existsSync(join(folder, 'openssl')))

const openssl = (...args: readonly string[]) => execFileSync('openssl', args, { stdio: 'pipe' })

/** A certificate authority that only the test trusts. */
export function makeAuthority(name: string): Certificate {
  const files = newFiles()
  openssl('req', '-x509', ...newKey, '-days', '2', '-subj', `/CN=${name}`, '-keyout', files.keyFile, '-out', files.certFile)
  return load(files)
}

/** A certificate that the authority signed for a DNS name; `days` below zero makes an expired one. */
export function makeCertificate(authority: Certificate, dnsName: string, days = 2): Certificate {
  const files = newFiles()
  const request = `${files.certFile}.csr`
  const extensions = `${files.certFile}.ext`
  writeFileSync(extensions, `subjectAltName=DNS:${dnsName}\n`)
  openssl('req', '-new', ...newKey, '-subj', `/CN=${dnsName}`, '-keyout', files.keyFile, '-out', request)
  const signer = ['-CA', authority.certFile, '-CAkey', authority.keyFile, '-CAcreateserial']
  openssl('x509', '-req', '-in', request, ...signer, '-days', String(days), '-extfile', extensions, '-out', files.certFile)
  return load(files)
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

let root: string | undefined

/** All in one folder, which goes when the process does. */
function newFiles() {
  if (root === undefined) {
    const made = mkdtempSync(join(tmpdir(), 'gatehouse-certificates-'))
    process.once('exit', () => rmSync(made, { recursive: true, force: true }))
    root = made
  }
  const folder = mkdtempSync(join(root, 'pair-'))
  return { certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key') }
}

const load = (files: Pick<Certificate, 'certFile' | 'keyFile'>): Certificate => ({
  ...files,
  cert: readFileSync(files.certFile, 'utf8'),
  key: readFileSync(files.keyFile, 'utf8'),
})
