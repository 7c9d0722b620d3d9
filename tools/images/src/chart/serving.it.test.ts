import { describe, expect, it } from 'vitest'
import { container, renderChart, workload, type Manifest } from './render.ts'

/** Programs that serve metrics, and the accounts that they have. */
const programs = [
  { name: 'kube-ovn-controller', program: 'kube-ovn-controller', account: 'ovn' },
  { name: 'kube-ovn-cni', program: 'cni-server', account: 'kube-ovn-cni' },
  { name: 'kube-ovn-pinger', program: 'pinger', account: 'kube-ovn-app' },
  { name: 'kube-ovn-monitor', program: 'kube-ovn-monitor', account: 'kube-ovn-monitor' },
  { name: 'kube-ovn-speaker', program: 'speaker', account: 'kube-ovn-speaker' },
]
const monitors = Object.fromEntries(
  ['controller', 'agent', 'pinger', 'monitor'].map((name) => [name, { serviceMonitor: { enabled: true } }]),
)
const speaker = {
  enabled: true,
  podMonitor: { enabled: true, tokenSecret: { name: 'scraper', key: 'token' } },
}

function render(features: object, more: object = {}): Promise<readonly Manifest[]> {
  return renderChart({ ...monitors, bgpSpeaker: speaker, ...more, features })
}

function args(manifests: readonly Manifest[], { name, program }: (typeof programs)[number]) {
  return container(workload(manifests, name), program).args ?? []
}

/** Parts of a manifest that only some tests look at. */
function text(part: unknown): string {
  return JSON.stringify(part)
}

describe('features.enableSecureServing', () => {
  it('is off unless it is asked for: nobody is asked who may read metrics', async () => {
    const manifests = await render({})
    for (const program of programs) expect(args(manifests, program)).toContain('--secure-serving=false')
    expect(text(manifests)).not.toMatch(/tokenreviews|"HTTPS"|"https"/)
  })

  it('reaches every program, its probes, and who scrapes it', async () => {
    const networking = { tlsMinVersion: 'TLS13', tlsCipherSuites: ['TLS_AES_128_GCM_SHA256'] }
    const manifests = await render({ enableSecureServing: true }, { networking })
    for (const program of programs) {
      expect(args(manifests, program)).toEqual(
        expect.arrayContaining([
          '--secure-serving=true',
          '--tls-min-version=TLS13',
          '--tls-cipher-suites=TLS_AES_128_GCM_SHA256',
        ]),
      )
      const served = container(workload(manifests, program.name), program.program)
      expect(text(served).match(/"scheme":"HTTPS"/g)).toHaveLength(2)
    }
    const scraped = manifests.filter(({ kind }) => /^(Service|Pod)Monitor$/.test(kind)).map(text)
    expect(scraped).toHaveLength(5)
    for (const monitor of scraped) {
      expect(monitor).toContain('"scheme":"https"')
      expect(monitor).toContain('"tlsConfig":{"insecureSkipVerify":true}')
      expect(monitor).toMatch(
        /bearerTokenFile|"authorization":\{"credentials":\{"name":"scraper","key":"token"\}\}/,
      )
    }
  })

  it('lets them ask whose a token is and what he may read, and has a role for readers', async () => {
    const manifests = await render({ enableSecureServing: true })
    const binding = text(
      manifests.find(
        ({ kind, metadata }) => kind === 'ClusterRoleBinding' && metadata.name === 'kube-ovn-metrics',
      ),
    )
    for (const { account } of programs) expect(binding).toContain(`"name":"${account}"`)
    const role = (name: string) =>
      manifests.find(({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === name)?.rules
    expect(role('system:kube-ovn-metrics')).toEqual([
      { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
      { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
    ])
    expect(role('kube-ovn-metrics-reader')).toEqual([{ nonResourceURLs: ['/metrics'], verbs: ['get'] }])
  })

  it('takes certificates from a Secret, and has them checked', async () => {
    const manifests = await render({ enableSecureServing: true, secureServingSecret: 'metrics' })
    for (const program of programs) {
      expect(args(manifests, program)).toContain('--tls-cert-file=/var/run/serving/tls.crt')
      const { volumes } = workload(manifests, program.name).spec?.template?.spec ?? {}
      expect(volumes).toContainEqual({
        name: 'serving',
        secret: { secretName: 'metrics', defaultMode: 0o400 },
      })
      const served = container(workload(manifests, program.name), program.program)
      expect(text(served)).toContain('"mountPath":"/var/run/serving","readOnly":true')
    }
    for (const monitor of manifests.filter(({ kind }) => /^(Service|Pod)Monitor$/.test(kind)))
      expect(text(monitor)).toContain(
        '"tlsConfig":{"ca":{"secret":{"name":"metrics","key":"ca.crt"}},"serverName":"kube-ovn-metrics"}',
      )
    // Who is not root reads it by its group.
    expect(text(workload(manifests, 'kube-ovn-controller'))).toContain('"fsGroup":65534')
  })

  it('refuses what is neither on nor off', async () => {
    await expect(render({ enableSecureServing: 'false' })).rejects.toThrow('write true or false')
  })
})

it('has agents and pingers answer each other when pinger.enableVerboseConnCheck is asked for', async () => {
  const pinger = { enableVerboseConnCheck: true }
  for (const [values, flag] of [
    [{}, '--enable-verbose-conn-check=false'],
    [{ pinger }, '--enable-verbose-conn-check=true'],
  ] as const) {
    const manifests = await renderChart(values)
    for (const program of programs.filter(({ name }) => /cni|pinger/.test(name)))
      expect(args(manifests, program)).toContain(flag)
  }
})
