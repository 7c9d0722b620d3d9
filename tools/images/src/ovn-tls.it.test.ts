import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { docker } from '@kube-ovn/testing-docker'
import { askInTheClear, createAuthority } from '@kube-ovn/testing-ovsdb'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ensureImage } from './container-image.ts'

const run = promisify(execFile)
const network = `kube-ovn-tls-test-${randomBytes(3).toString('hex')}`
/** Of the test alone: where the containers are is a network of their own. */
const prefix = `fd00:${randomBytes(2).toString('hex')}::`
const ports = { nb: 6641, sb: 6642, nbRaft: 6643, sbRaft: 6644, northd: 6649 }

let image: string
let directory: string
const containers: string[] = []

/** The files as a pod has them; what is written there is what the Secret says by then. */
const tls = (file: string): string => join(directory, 'tls', file)

beforeAll(async () => {
  image = await ensureImage('ovn')
  await docker('network', 'create', '--internal', '--ipv6', '--subnet', `${prefix}/64`, network)
})
afterAll(() => docker('network', 'rm', network))

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'kube-ovn-tls-'))
  await run('mkdir', [join(directory, 'tls')])
  await createAuthority(join(directory, 'first'))
  await createAuthority(join(directory, 'second'))
  await give('first')
})
afterEach(async () => {
  for (const name of containers.splice(0)) await docker('rm', '--force', '--volumes', name)
  await rm(directory, { recursive: true })
})

/** Puts files of an authority where the containers read them. */
async function give(authority: string, files = ['cacert', 'cert', 'key']): Promise<void> {
  for (const file of files) await copyFile(join(directory, authority, file), tls(file))
}

interface StartOptions {
  readonly isTls?: boolean
  /** What is on the disk before: a command that puts it there. */
  readonly disk?: string
  /** The next container of this host has the same disk. */
  readonly keeps?: boolean
  /** Further environment. */
  readonly limits?: Readonly<Record<string, string>>
}

async function start(
  host: number,
  hosts: readonly number[],
  { isTls = true, disk = 'true', keeps = false, limits = {} }: StartOptions = {},
): Promise<string> {
  const name = `${network}-${host}`
  const address = `${prefix}${host}`
  containers.push(name)
  const environment = {
    POD_IP: address,
    POD_IPS: address,
    NODE_IPS: hosts.map((each) => `${prefix}${each}`).join(','),
    ENABLE_BIND_LOCAL_IP: 'true',
    ENABLE_SSL: String(isTls),
    ...limits,
  }
  await docker(
    ...['run', '--detach', '--name', name, '--network', network, '--ip6', address],
    ...Object.entries(environment).flatMap(([variable, value]) => ['--env', `${variable}=${value}`]),
    ...['--volume', `${join(directory, 'tls')}:/var/run/tls:ro`, '--volume', `${directory}:/test:ro`],
    ...(keeps ? ['--volume', `${directory}/disk-${host}:/etc/ovn`] : []),
    ...[image, 'bash', '-c', `${disk} && exec bash /kube-ovn/start-db.sh`],
  )
  return name
}

function health(name: string, ...args: readonly string[]): Promise<string> {
  return docker('exec', name, 'bash', '/kube-ovn/ovn-healthcheck.sh', ...args)
}

/** Nothing tells when a daemon in a container is up, so it is asked. */
async function eventually<T>(attempt: () => Promise<T>): Promise<T> {
  const deadlineMs = performance.now() + 60_000
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (performance.now() > deadlineMs) throw error
      await delay(250)
    }
  }
}

/** Asks a server which databases it has, with the certificate of an authority, or without any. */
function listDatabases(
  name: string,
  endpoint: string,
  authority?: string,
  trusted = authority,
): Promise<string> {
  const own = `/test/${authority}`
  const files = [`--private-key=${own}/key`, `--certificate=${own}/cert`, `--ca-cert=/test/${trusted}/cacert`]
  const options = authority === undefined ? [] : files
  return docker('exec', name, 'ovsdb-client', '--timeout=5', ...options, 'list-dbs', endpoint)
}

async function addressesOf(name: string): Promise<readonly string[]> {
  const status = await docker(
    ...['exec', name, 'ovn-appctl', '-t', '/run/ovn/ovnsb_db.ctl', 'cluster/status', 'OVN_Southbound'],
  )
  return [...status.matchAll(/ at (\S+?)\)/g)].map(([, address = '']) => address)
}

describe('ovn-central with ENABLE_SSL', () => {
  it('makes a cluster over IPv6 that nobody can talk to in the clear, also after all have crashed', async () => {
    const hosts = [11, 12, 13]
    const names = []
    for (const host of hosts) names.push(await start(host, hosts))
    await Promise.all(names.map((name) => eventually(() => health(name))))
    const [first = ''] = names
    for (const name of names) {
      expect(new Set(await addressesOf(name))).toEqual(
        new Set(hosts.map((host) => `ssl:[${prefix}${host}]:${ports.sbRaft}`)),
      )
    }
    for (const port of Object.values(ports)) {
      expect(await askInTheClear(`${prefix}12`, port, 'test'), String(port)).not.toContain('{')
    }
    const northbound = `[${prefix}12]:${ports.nb}`
    expect(await listDatabases(first, `ssl:${northbound}`, 'first')).toContain('OVN_Northbound')
    await expect(listDatabases(first, `tcp:${northbound}`)).rejects.toThrow(/End of file|reset/)
    await expect(listDatabases(first, `ssl:${northbound}`, 'second')).rejects.toThrow('certificate verify')
    // The private key is nowhere but in its file.
    expect(await docker('exec', first, 'bash', '-c', 'cat /proc/*/cmdline /var/log/ovn/*.log')).not.toContain(
      'PRIVATE KEY',
    )

    await docker('kill', '--signal', 'KILL', ...names)
    await docker('start', ...names)
    await Promise.all(names.map((name) => eventually(() => health(name))))
    await docker('exec', first, 'ovn-nbctl', '--no-leader-only', 'ls-add', 'after')
    expect(await addressesOf(first)).toHaveLength(3)
  })

  it('takes renewed files without a restart, and goes on with those who are connected', async () => {
    const name = await start(21, [21])
    await eventually(() => health(name))
    const endpoint = `ssl:[${prefix}21]:${ports.sb}`
    const watcher = execFile('docker', [
      ...['exec', name, 'ovsdb-client', '--private-key=/test/first/key', '--certificate=/test/first/cert'],
      ...['--ca-cert=/test/first/cacert', 'monitor', endpoint, 'OVN_Southbound', 'SB_Global', 'nb_cfg'],
    ])
    let seen = ''
    watcher.stdout?.on('data', (text: string) => (seen += text))
    await expect.poll(() => seen).toContain('initial')

    await give('second')
    await eventually(() => listDatabases(name, endpoint, 'second'))
    await expect(listDatabases(name, endpoint, 'first')).rejects.toThrow('failed to connect')
    // The server has forgotten the authority of before.
    await expect(listDatabases(name, endpoint, 'first', 'second')).rejects.toThrow('ovsdb-client: ')
    await health(name)
    await docker('exec', name, 'ovn-sbctl', 'set', 'SB_Global', '.', 'nb_cfg=7')
    await expect.poll(() => seen).toContain('new')
    watcher.kill()
  })

  const wrong = [
    {
      what: 'a certificate of another authority',
      files: ['cert', 'key'],
      says: 'cert is not one that cacert trusts',
    },
    { what: 'a key of another certificate', files: ['key'], says: 'key is that of another certificate' },
  ]
  it.each(wrong)('tells $what, is not ready, alive, and well once that is right', async ({ files, says }) => {
    await give('second', files)
    const name = await start(31, [31])
    await eventually(() => health(name, 'live'))
    await expect(health(name)).rejects.toThrow(says)
    await expect(health(name)).rejects.toThrow('of the Secret')
    expect((await run('docker', ['logs', name])).stderr).toContain(says)
    await give('first')
    await health(name)
    await eventually(() => listDatabases(name, `ssl:[${prefix}31]:${ports.nb}`, 'first'))
  })

  it.each([
    ['nothing', '', 'cacert holds no certificate'],
    ['nonsense', 'nonsense', 'cacert holds no certificate'],
  ])('tells %s in a file', async (_, text, says) => {
    await writeFile(tls('cacert'), text)
    const name = await start(32, [32])
    await eventually(() => health(name, 'live'))
    await expect(health(name)).rejects.toThrow(says)
  })

  it('offers the versions and ciphers that it is told to, and no others', async () => {
    const cipher = 'TLS_AES_128_GCM_SHA256'
    const limits = { TLS_MIN_VERSION: 'TLS13', TLS_CIPHER_SUITES: cipher }
    const name = await start(61, [61], { limits })
    await eventually(() => health(name))
    const shake = (...options: readonly string[]): Promise<string> =>
      docker(
        ...['exec', name, 'openssl', 's_client', '-connect', `[${prefix}61]:${ports.nb}`, '-brief'],
        ...[
          '-cert',
          '/test/first/cert',
          '-key',
          '/test/first/key',
          '-CAfile',
          '/test/first/cacert',
          ...options,
        ],
      )
    await eventually(() => shake())
    await shake('-tls1_3', '-ciphersuites', cipher)
    await expect(shake('-tls1_2')).rejects.toThrow('alert protocol version')
    await expect(shake('-ciphersuites', 'TLS_AES_256_GCM_SHA384')).rejects.toThrow('alert handshake failure')
  })

  it.each([
    { limits: { TLS_MIN_VERSION: 'TLS14' }, says: 'TLS_MIN_VERSION TLS14 is none of' },
    { limits: { TLS_MIN_VERSION: 'TLS13', TLS_MAX_VERSION: '1.2' }, says: 'is above TLS_MAX_VERSION 1.2' },
    { limits: { TLS_CIPHER_SUITES: 'TLS_AES_128_GCM_SHA256,RC4' }, says: 'TLS_CIPHER_SUITES has RC4' },
  ])('does not start with $limits, and says why', async ({ limits, says }) => {
    const name = await start(62, [62], { limits })
    expect(await docker('wait', name)).toBe('1')
    expect((await run('docker', ['logs', name])).stderr).toContain(says)
  })

  it.each([
    { was: 'tcp', isTls: true },
    { was: 'ssl', isTls: false },
  ])('leaves a member of a cluster alone that others know by $was', async ({ was, isTls }) => {
    const address = `${was}:[${prefix}41]:${ports.nbRaft}`
    const disk = `ovsdb-tool create-cluster /etc/ovn/ovnnb_db.db /usr/share/ovn/ovn-nb.ovsschema ${address}`
    const name = await start(41, [41, 42], { isTls, disk })
    expect(await docker('wait', name)).toBe('1')
    const { stderr } = await run('docker', ['logs', name])
    expect(stderr).toContain(`this member of a cluster is known to the others as ${address}`)
    expect(stderr).toContain('networking.enableSsl')
  })

  it('takes the data of a cluster that was founded without, by what its documentation says', async () => {
    const hosts = [51, 52]
    const plain = []
    for (const host of hosts) plain.push(await start(host, hosts, { isTls: false, keeps: true }))
    const [first = ''] = plain
    await Promise.all(plain.map((name) => eventually(() => health(name))))
    await docker('exec', first, 'ovn-nbctl', '--no-leader-only', 'ls-add', 'kept')
    for (const db of ['nb', 'sb']) {
      const files = [`/etc/ovn/${db}.alone`, `/etc/ovn/ovn${db}_db.db`]
      await docker('exec', first, 'ovsdb-tool', 'cluster-to-standalone', ...files)
    }
    await docker('stop', ...plain)
    await docker('rm', ...plain)

    const moved = 'cd /etc/ovn && mv nb.alone ovnnb_db.db && mv sb.alone ovnsb_db.db'
    const names = [
      await start(51, hosts, { disk: moved, keeps: true }),
      await start(52, hosts, { disk: 'rm /etc/ovn/ovn?b_db.db', keeps: true }),
    ]
    await Promise.all(names.map((name) => eventually(() => health(name))))
    const [, second = ''] = names
    expect(await docker('exec', second, 'ovn-nbctl', '--no-leader-only', 'ls-list')).toContain('kept')
    expect(await addressesOf(second)).toEqual(
      expect.arrayContaining(hosts.map((host) => `ssl:[${prefix}${host}]:${ports.sbRaft}`)),
    )
  })
})
