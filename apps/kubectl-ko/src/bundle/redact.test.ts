import { expect, it } from 'vitest'
import { redactObject, redactText } from './redact.ts'

const secret = 'hunter2hunter2'

it.each([
  `dialing with password=${secret} now`,
  `{"token": "${secret}"}`,
  `Authorization: Bearer ${secret}`,
  `psk='${secret}'`,
  `-----BEGIN EC PRIVATE KEY-----\n${secret}\n-----END EC PRIVATE KEY-----`,
  `cut -----BEGIN PRIVATE KEY-----\n${secret}`,
  `eyJhbGciOi.eyJzdWIi.${secret}`,
])('leaves a secret out of a text: %s', (text) => {
  expect(redactText(text)).not.toContain(secret)
})

it('keeps what is none', () => {
  const text = 'leader changed to node-1, took 12 ms; 2 tokens of the bucket are left'
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
      containers: [
        {
          env: [
            { name: 'BGP_PASSWORD', value: secret },
            { name: 'NODE_IPS', value: '10.0.0.1' },
          ],
          args: [`--auth-password=${secret}`],
        },
      ],
    },
  }
  const text = JSON.stringify(redactObject(object))
  expect(text).not.toContain(secret)
  expect(JSON.parse(text)).toMatchObject({
    metadata: { name: 'a' },
    spec: { secretName: 'bgp', containers: [{ env: [{}, { name: 'NODE_IPS', value: '10.0.0.1' }] }] },
  })
})
