{{/* TLS of the databases: networking.enableSsl. */}}

{{- define "kube-ovn.tlsSecret" -}}
{{- .Values.networking.tlsSecret | default "kube-ovn-tls" -}}
{{- end -}}

{{- define "kube-ovn.tlsEnv" -}}
- name: ENABLE_SSL
  value: {{ .Values.networking.enableSsl | quote }}
{{- end -}}

{{/* What the servers offer, if it is to be less than they do by themselves. */}}
{{- define "kube-ovn.tlsLimitsEnv" -}}
{{- $networking := .Values.networking -}}
{{- with $networking.tlsMinVersion }}
- name: TLS_MIN_VERSION
  value: {{ . | quote }}
{{- end }}
{{- with $networking.tlsMaxVersion }}
- name: TLS_MAX_VERSION
  value: {{ . | quote }}
{{- end }}
{{- with $networking.tlsCipherSuites }}
- name: TLS_CIPHER_SUITES
  value: {{ join "," . | quote }}
{{- end }}
{{- end -}}

{{- define "kube-ovn.tlsMount" -}}
{{- if .Values.networking.enableSsl }}
- { name: tls, mountPath: /var/run/tls, readOnly: true }
{{- end }}
{{- end -}}

{{/* A pod waits until the Secret is there: it never comes up without. The mode is 0400, which not all read as octal. */}}
{{- define "kube-ovn.tlsVolume" -}}
{{- if .Values.networking.enableSsl }}
- name: tls
  secret: { secretName: {{ include "kube-ovn.tlsSecret" . }}, defaultMode: 256 }
{{- end }}
{{- end -}}

{{/* Whether there is a cluster to look things up in. */}}
{{- define "kube-ovn.hasCluster" -}}
{{- if lookup "v1" "Namespace" "" "default" -}}true{{- end -}}
{{- end -}}

{{/* Refuses what would leave the databases open, or without a quorum. */}}
{{- define "kube-ovn.checkTls" -}}
{{- $networking := .Values.networking -}}
{{- range $name := list "tlsMinVersion" "tlsMaxVersion" -}}
{{- $value := toString (get $networking $name) -}}
{{- if not (regexMatch "^((TLS ?)?1\\.?[0-3])?$" $value) -}}
{{- fail (printf "networking.%s %q is not allowed: write TLS10, TLS11, TLS12 or TLS13" $name $value) -}}
{{- end -}}
{{- end -}}
{{- if and $networking.tlsMinVersion $networking.tlsMaxVersion -}}
{{- if gt (toString $networking.tlsMinVersion | trunc -1) (toString $networking.tlsMaxVersion | trunc -1) -}}
{{- fail (printf "networking.tlsMinVersion %v is above tlsMaxVersion %v: exchange them" $networking.tlsMinVersion $networking.tlsMaxVersion) -}}
{{- end -}}
{{- end -}}
{{- range $networking.tlsCipherSuites -}}
{{- if not (regexMatch "^TLS_(AES_128_GCM_SHA256|AES_256_GCM_SHA384|CHACHA20_POLY1305_SHA256|ECDHE_(ECDSA|RSA)_WITH_(AES_(128|256)_CBC_SHA|AES_128_GCM_SHA256|AES_256_GCM_SHA384|CHACHA20_POLY1305(_SHA256)?))$" .) -}}
{{- fail (printf "networking.tlsCipherSuites has %q, which is not served: take it out, see docs/user/tls.md" .) -}}
{{- end -}}
{{- end -}}
{{- if hasKey $networking "ENABLE_SSL" -}}
{{- fail "networking.ENABLE_SSL is a value of Kube-OVN's chart kube-ovn, and this one has those of kube-ovn-v2: write networking.enableSsl" -}}
{{- end -}}
{{- if not (kindIs "bool" $networking.enableSsl) -}}
{{- fail (printf "networking.enableSsl %q is not allowed: write true or false" (toString $networking.enableSsl)) -}}
{{- end -}}
{{- $central := lookup "apps/v1" "Deployment" .Values.namespace "ovn-central" -}}
{{- if and $central (gt (int $central.spec.replicas) 1) -}}
{{- $was := "false" -}}
{{- range (first $central.spec.template.spec.containers).env -}}
{{- if eq .name "ENABLE_SSL" }}{{ $was = .value }}{{ end -}}
{{- end -}}
{{- if ne $was (toString $networking.enableSsl) -}}
{{- fail (printf "networking.enableSsl %v is not what the cluster of databases was founded with: its members know each other by addresses that have the protocol, and would lose their quorum. Set it to %s, or found the cluster anew as docs/user/tls.md says" $networking.enableSsl $was) -}}
{{- end -}}
{{- end -}}
{{- end -}}
