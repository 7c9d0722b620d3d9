import { parseCidr, parseIp } from '@kube-ovn/ip'
import { describe, expect, it } from 'vitest'
import { AnnotationInvalidError } from './errors.ts'
import { forwarderAnnotations } from './forwarder.ts'

const { forwards } = forwarderAnnotations

describe('lb_svc_forwards', () => {
  it('says by families, ports and sources what is forwarded, both ways', () => {
    const value = {
      families: [
        { address: parseIp('10.1.0.5'), gateway: parseIp('10.1.0.1'), to: parseIp('10.96.0.9') },
        { address: parseIp('fd00::5'), to: parseIp('fd00:96::9') },
      ],
      ports: [
        { protocol: 'TCP', port: 80 },
        { protocol: 'UDP', port: 53 },
      ],
      sources: [parseCidr('192.0.2.0/24')],
    } as const
    const text =
      '{"families":[{"address":"10.1.0.5","gateway":"10.1.0.1","to":"10.96.0.9"},{"address":"fd00::5","to":"fd00:96::9"}],' +
      '"ports":["80/TCP","53/UDP"],"sources":["192.0.2.0/24"]}'
    expect(forwards.format(value)).toBe(text)
    expect(forwards.parse(text)).toEqual(value)
  })

  it.each([
    'text',
    '[]',
    '{}',
    '{"families":[],"ports":["0/TCP"]}',
    '{"families":[],"ports":["80/ICMP"]}',
    '{"families":[{"address":"10.1.0.5"}],"ports":[]}',
    '{"families":[{"address":"10.1.0.5","to":"here"}],"ports":[]}',
    '{"families":[],"ports":[],"sources":["10.0.0.0/33"]}',
    `{"families":[],"ports":[${Array.from({ length: 4097 }, () => '"1/TCP"').join()}]}`,
  ])('refuses %.60s', (text) => {
    expect(() => forwards.parse(text)).toThrow(AnnotationInvalidError)
  })
})
