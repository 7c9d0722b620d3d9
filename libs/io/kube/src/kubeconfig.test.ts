import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { loadAccess } from './access.ts'
import { KubeConfigError } from './errors.ts'
import { inClusterAccess } from './in-cluster.ts'
import { loadKubeconfig } from './kubeconfig.ts'

let directory: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'kube-ovn-kubeconfig-'))
})

afterEach(async () => {
  vi.unstubAllEnvs()
  await rm(directory, { recursive: true })
})

async function write(name: string, text: string): Promise<string> {
  await writeFile(join(directory, name), text)
  return join(directory, name)
}

function config(user: string, cluster = 'server: https://api:6443/'): Promise<string> {
  return write(
    'config',
    `
current-context: one
contexts:
- { name: one, context: { cluster: here, user: me } }
clusters:
- name: here
  cluster: { ${cluster} }
users:
- name: me
  user: { ${user} }
`,
  )
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}

describe('loadKubeconfig', () => {
  it('takes certificates from data and from files beside it', async () => {
    await write('ca.pem', 'CA')
    const path = await config(
      `client-certificate-data: ${base64('CERT')}, client-key-data: ${base64('KEY')}`,
      'server: https://api:6443/, certificate-authority: ca.pem, tls-server-name: kubernetes',
    )
    const access = await loadKubeconfig(path)
    expect(access).toMatchObject({
      server: 'https://api:6443',
      ca: 'CA',
      tlsServerName: 'kubernetes',
      isVerified: true,
    })
    expect(await access.authenticate(false)).toEqual({ certificate: 'CERT', privateKey: 'KEY' })
  })

  it('takes a token, and a token file over it', async () => {
    const plain = await loadKubeconfig(await config('token: abc'))
    expect(await plain.authenticate(false)).toEqual({ authorization: 'Bearer abc' })
    await write('token', 'first\n')
    const access = await loadKubeconfig(await config('token: abc, tokenFile: token'))
    expect(await access.authenticate(false)).toEqual({ authorization: 'Bearer first' })
    await write('token', 'second\n')
    expect(await access.authenticate(false)).toEqual({ authorization: 'Bearer first' })
    expect(await access.authenticate(true)).toEqual({ authorization: 'Bearer second' })
  })

  it('takes a name and a password', async () => {
    const access = await loadKubeconfig(await config('username: me, password: secret'))
    expect(await access.authenticate(false)).toEqual({ authorization: `Basic ${base64('me:secret')}` })
  })

  it('runs a credential plug-in beside it, once until what it answered is refused', async () => {
    await write(
      'plugin.sh',
      `echo run >> ${join(directory, 'runs')}
       echo '{"kind": "ExecCredential", "status": {"token": "'"$1-$SUFFIX"'"}}'`,
    )
    const exec = 'command: ./run, args: [tok], env: [{ name: SUFFIX, value: en }]'
    await write('run', `#!/bin/sh\n. ${join(directory, 'plugin.sh')}\n`)
    await chmod(join(directory, 'run'), 0o755)
    const access = await loadKubeconfig(await config(`exec: { ${exec} }`))
    expect(await access.authenticate(false)).toEqual({ authorization: 'Bearer tok-en' })
    await access.authenticate(false)
    await access.authenticate(true)
    expect(await readFile(join(directory, 'runs'), 'utf8')).toBe('run\nrun\n')
  })

  it('says which credential plug-in failed', async () => {
    const access = await loadKubeconfig(await config('exec: { command: "false" }'))
    await expect(access.authenticate(false)).rejects.toMatchObject({
      code: 'kube-config',
      details: { source: 'false' },
    })
  })

  it.each([
    ['an unknown context', 'token: a', 'server: https://a', 'two', 'contexts'],
    [
      'a missing server',
      'token: a',
      'insecure-skip-tls-verify: true',
      undefined,
      'clusters[here].cluster.server',
    ],
    ['a number for a token', 'token: 5', 'server: https://a', undefined, 'users[me].user.token'],
    [
      'a proxy',
      'token: a',
      'server: https://a, proxy-url: http://p',
      undefined,
      'clusters[here].cluster.proxy-url',
    ],
    [
      'a missing file',
      'client-certificate: no.pem',
      'server: https://a',
      undefined,
      'users[me].user.client-certificate',
    ],
  ])('names the field of %s', async (_name, user, cluster, context, field) => {
    const path = await config(user, cluster)
    const error = await loadKubeconfig(path, context).catch((thrown: unknown) => thrown)
    if (!(error instanceof KubeConfigError)) throw error
    expect(error.details.field).toBe(field)
    expect(error.details.cure).not.toBe('')
  })

  it('refuses what is not YAML', async () => {
    await expect(loadKubeconfig(await write('config', 'a: [b'))).rejects.toThrow(KubeConfigError)
  })
})

describe('loadAccess', () => {
  it('prefers the flag, then the pod, then the environment', async () => {
    const path = await config('token: abc')
    vi.stubEnv('KUBECONFIG', path)
    vi.stubEnv('KUBERNETES_SERVICE_HOST', '')
    expect((await loadAccess()).server).toBe('https://api:6443')
    vi.stubEnv('KUBERNETES_SERVICE_HOST', '10.96.0.1')
    await expect(loadAccess()).rejects.toThrow(KubeConfigError)
    expect((await loadAccess(path)).server).toBe('https://api:6443')
  })

  it('uses the service account of a pod', async () => {
    vi.stubEnv('KUBERNETES_SERVICE_HOST', 'fd00:10:96::1')
    vi.stubEnv('KUBERNETES_SERVICE_PORT', '6443')
    await write('token', 'pod-token')
    await write('ca.crt', 'CA')
    const access = await inClusterAccess(directory)
    expect(access).toMatchObject({ server: 'https://[fd00:10:96::1]:6443', ca: 'CA', isVerified: true })
    expect(await access.authenticate(false)).toEqual({ authorization: 'Bearer pod-token' })
  })
})
