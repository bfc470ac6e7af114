package home

import "golang.org/x/sys/windows/registry"

// systemMachine reads the id that Windows draws when it is installed.
func systemMachine() (raw, source string) {
	const path = `SOFTWARE\Microsoft\Cryptography`
	k, err := registry.OpenKey(registry.LOCAL_MACHINE, path, registry.QUERY_VALUE|registry.WOW64_64KEY)
	if err != nil {
		return "", ""
	}
	defer k.Close()
	id, _, err := k.GetStringValue("MachineGuid")
	if err != nil || id == "" {
		return "", ""
	}
	return id, `HKLM\` + path + `\MachineGuid`
}
