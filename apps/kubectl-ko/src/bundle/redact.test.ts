import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { redactObject, redactText } from './redact.ts'

const secret = 'hunter2hunter2'
const inBase64 = (text: string): string => Buffer.from(text).toString('base64')
const web = `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.${secret}`

/** Every form in which a secret was seen in what components, tools and people write. */
const forms: Readonly<Record<string, readonly string[]>> = {
  'URLs with a password': [
    `dial postgres://ovn:${secret}@db:5432/x?a=b failed`,
    `cloning https://user:p@${secret}@git.local/a.git`,
    `redis://:${secret}@cache`,
    `git clone https://ghp_${secret}${secret}@github.local/a`,
    `http://u:a/${secret}@h/`,
  ],
  variables: [
    `BGP_PASSWORD=${secret}`,
    `export MYSQL_PASS='${secret}'`,
    `AWS_SECRET_ACCESS_KEY=${secret}`,
    `- name: BGP_PASSWORD\n  value: ${secret}`,
    `{"name": "DB_PWD", "value": "${secret}"} and more`,
    `DB_PASSWORD=a,${secret};b`,
  ],
  flags: [
    `speaker --auth-password=${secret} --as=65000`,
    `speaker --auth-password ${secret} --as=65000`,
    `args: ["--auth-password", "${secret}"`,
    `args:\n- --auth-password\n- ${secret}\n- --as`,
    `curl -u admin:${secret} http://a`,
  ],
  headers: [
    `Authorization: Bearer ${secret}`,
    `authorization: Basic ${inBase64(`user:${secret}`)}`,
    `sent Basic ${inBase64(`user:${secret}`)} to a`,
    `X-Api-Key: ${secret}`,
    `Set-Cookie: session=${secret}; Path=/`,
    `curl -H "Authorization: Token ${secret}" http://a`,
  ],
  'tokens of the web': [web, `got ${web} from a`, `url?access_token=${web}&x=1`],
  'private keys': [
    `-----BEGIN EC PRIVATE KEY-----\n${secret}\n-----END EC PRIVATE KEY-----`,
    `cut -----BEGIN PRIVATE KEY-----\n${secret}`,
    `key: |\n    -----BEGIN RSA PRIVATE KEY-----\n    ${secret}\n    -----END RSA PRIVATE KEY-----\n`,
    JSON.stringify(`-----BEGIN OPENSSH PRIVATE KEY-----\n${secret}\n-----END OPENSSH PRIVATE KEY-----`),
  ],
  'JSON and YAML': [
    `{"token": "${secret}"}`,
    `{"password":"a\\"b${secret}"}`,
    `told {\\"password\\":\\"${secret}\\"} by a`,
    `cut {"clientSecret":"${secret}`,
    `password: correct horse ${secret}`,
    `psk='${secret}'`,
    `password: 'it''s ${secret}'`,
    `password: |-\n  a\n  ${secret}\nuser: b`,
    `password:\n  ${secret}\nuser: b`,
    `password: a long one\n  that goes on ${secret}\nuser: b`,
    `{ user: a, password: a, ${secret} }`,
    `tokens: [a, ${secret}]`,
    `{"tokens": ["a", "${secret}"]}`,
    `map[user:a password:${secret}]`,
  ],
  Secrets: [
    `apiVersion: v1\ndata:\n  anything: ${inBase64(secret)}\nkind: Secret\n`,
    `kind: Secret\nmetadata: { name: a }\nstringData:\n  anything: ${secret}\n  other: |\n    ${secret}\n`,
    `applied {"kind":"Secret","data":{"anything":"${inBase64(secret)}"}} as a`,
    `[{"type":"Opaque","data":{"anything":"${secret}"}}]`,
  ],
  'configurations of Docker': [
    `{"auths":{"r.local":{"auth":"${inBase64(`user:${secret}`)}"}}}`,
    `.dockerconfigjson: ${inBase64(`{"auths":{"r":{"auth":"${secret}"}}}`)}`,
    `"identitytoken": "${secret}"`,
  ],
  'BGP, IPsec and CNI': [
    `neighbor 192.0.2.1 password ${secret}`,
    `neighbor 192.0.2.1 password 7 ${secret}`,
    `  password ${secret}\nhostname a`,
    `    auth-password = "${secret}"`,
    `protocol bgp { password "${secret}"; }`,
    `10.0.0.1 %any : PSK "${secret}"`,
    `10.0.0.1 %any : PSK 0s${secret}`,
    `options             : {psk="${secret}", remote_ip="10.0.0.1"}`,
    `["map",[["psk","${secret}"]]]`,
    `net/ipv4/tcp_fastopen_key:${secret}`,
  ],
  kubeconfigs: [
    `users:\n- name: a\n  user:\n    client-key-data: ${inBase64(secret)}\n    token: ${secret}\n`,
    JSON.stringify({ kubeconfig: inBase64(`users: [{ user: {\n token: ${secret} }}]`) }),
  ],
}

const told = Object.entries(forms).flatMap(([form, texts]) => texts.map((text) => ({ form, text })))

describe('a secret is left out', () => {
  it.each(told)('of $form: $text', ({ text }) => {
    for (const hidden of [secret, inBase64(secret), inBase64(`user:${secret}`)])
      expect(redactText(text)).not.toContain(hidden)
    // As it is in the file of an object, in a line of a log that is JSON, and in an annotation.
    const line = JSON.stringify({ level: 'info', msg: text, again: JSON.stringify({ text }) })
    const object = redactObject({ metadata: { annotations: { note: text, line } }, spec: [inBase64(text)] })
    for (const written of [redactText(line), `a ${line}`, stringify(object), JSON.stringify(object)]) {
      expect(redactText(written)).not.toContain(secret)
      expect(redactText(written)).not.toContain(inBase64(text))
    }
  })

  it.each(told)('once, and that is not changed any more: $text', ({ text }) => {
    expect(redactText(redactText(text))).toBe(redactText(text))
  })
})

it.each([
  'leader changed to node-1, took 12 ms; 2 tokens of the bucket are left',
  'name="shop/till", verdict=pass, severity=info, direction=to-lport: tcp,nw_src=10.0.0.2',
  'cookie=0x14238534, duration=1s, table=8, n_packets=1, priority=100,in_port=2 actions=drop',
  'volumes:\n- name: a\n  secret:\n    secretName: bgp\n    items:\n    - key: a\n      path: b\n',
  'automountServiceAccountToken: true',
  'tunnel_key: 5, nexthop: 10.0.0.1',
  'docker-pullable://r.local:5000/kube-ovn@sha256:0123456789abcdef',
  'basic authentication of http://a.local:8080/path',
  '{"level":"info","msg":"rows committed","key":"shop/web","token":null}',
  '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----',
])('keeps what is none: %s', (text) => {
  expect(redactText(text)).toBe(text)
})

it('leaves secrets out of objects, and keeps the rest', () => {
  const object = {
    metadata: {
      name: 'a',
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': secret, note: `token=${secret}` },
      managedFields: [{ manager: 'x' }],
    },
    spec: {
      password: secret,
      secretName: 'bgp',
      automountServiceAccountToken: true,
      containers: [
        {
          env: [
            { name: 'BGP_PASSWORD', value: secret },
            { name: 'NODE_IPS', value: '10.0.0.1' },
            { name: 'OTHER_TOKEN', valueFrom: { secretKeyRef: { name: 'a', key: 'b' } } },
          ],
          args: [`--auth-password=${secret}`, '--auth-password', secret, '--as', '65000'],
        },
      ],
    },
  }
  const kept = redactObject(object)
  expect(JSON.stringify(kept)).not.toContain(secret)
  expect(kept).toMatchObject({
    metadata: { name: 'a' },
    spec: {
      ...{ secretName: 'bgp', automountServiceAccountToken: true },
      containers: [
        {
          env: [{}, { name: 'NODE_IPS', value: '10.0.0.1' }, { valueFrom: { secretKeyRef: { name: 'a' } } }],
          args: [expect.anything(), '--auth-password', expect.anything(), '--as', '65000'],
        },
      ],
    },
  })
})

describe('somebody who means to smuggle one out', () => {
  /** What quotes, brackets and blanks around it could end too soon. */
  const around = fc.string({
    unit: fc.constantFrom(...Array.from('ab "\'\\,;:={}[]()|>#&@/-_.\t')),
    maxLength: 12,
  })
  const names = fc.constantFrom(
    'password',
    'authPassword',
    'BGP_PASSWORD',
    'client-key-data',
    'apiKey',
    'token',
  )
  const key = fc.string({ unit: fc.constantFrom(...Array.from('ab "\'\\:-{')), maxLength: 6 })

  it('does not by quoting it, however deep it is in texts in objects', () => {
    const property = fc.property(
      ...([around, around, names, key, fc.integer({ min: 0, max: 3 })] as const),
      (before, after, name, other, depth) => {
        let object: unknown = { [other]: before, [name]: `${before}${secret}${after}`, after }
        for (let level = 0; level < depth; level++) object = { [`${other}x`]: JSON.stringify(object) }
        expect(JSON.stringify(redactObject(object))).not.toContain(secret)
        expect(redactText(JSON.stringify(object))).not.toContain(secret)
        expect(redactText(stringify(object, { lineWidth: 0 }))).not.toContain(secret)
      },
    )
    fc.assert(property, { numRuns: 2000 })
  })

  it('does not by writing it into a line of a log', () => {
    const line = fc.property(
      around,
      names,
      fc.constantFrom('="', ': "', '": "', '\\":\\"'),
      (before, name, by) => {
        const quotes = /\\?"$/.exec(by)?.[0] ?? ''
        const text = `${before}\n${name}${by}${secret} ${secret}${quotes} and more`
        expect(redactText(text)).not.toContain(secret)
      },
    )
    fc.assert(line, { numRuns: 2000 })
  })

  // What takes the square of this long does not end before the test does.
  it.each([
    ...[
      'password',
      'password:',
      'password="',
      '"password","',
      '--password ',
      'name: PASSWORD, ',
      'a',
      '-',
      '\\',
      '"',
    ],
    ...[
      'eyJaaaaaaaa-',
      'a://b:',
      'http://a@',
      '-----BEGIN PRIVATE KEY-----',
      'kind: Secret\ndata:\n  a\n',
      '{"a":[',
      '[',
    ],
    ...['neighbor a password ', 'password:\n  ', "password: '", 'basic ', ' -u a:', 'A+/='],
  ])('does not by making it take long: %s', (piece) => {
    const text = piece.repeat(2 ** 20 / piece.length)
    expect(redactText(text).length).toBeGreaterThan(0)
  })
})
