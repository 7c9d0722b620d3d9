{{/* The name outside that pingers look up: with both families, the one that has IPv6 addresses too. */}}
{{- define "kube-ovn.pingerDomain" -}}
{{- $domain := .Values.pinger.targets.externalDomain -}}
{{- if eq .Values.networking.stack "IPv4" -}}{{ $domain.v4 }}{{- else -}}{{ $domain.v6 }}{{- end -}}
{{- end -}}
