"""A map of the world on which each country is one square, so that small countries are visible.

The layout follows the world tile grid of Maarten Lambrechts (2017). Names of countries are in English. Other
spellings and ISO 3166 codes map to the same square.
"""

from typing import NamedTuple

from markup import fold


class Tile(NamedTuple):
    """A country: its ISO 3166 code and name, and the column and row of its square."""

    code: str
    name: str
    column: int
    row: int


# By row from north to south: code, name, column.
_ROWS: dict[int, str] = {
    0: "GL Greenland 7",
    1: "IS Iceland 9; NO Norway 13; SE Sweden 14; FI Finland 15; RU Russia 20",
    2: "CA Canada 1; EE Estonia 15",
    3: (
        "US United States 1; IE Ireland 9; GB United Kingdom 10; DK Denmark 13; LV Latvia 15; "
        "BY Belarus 16; MN Mongolia 22"
    ),
    4: (
        "MX Mexico 1; BS Bahamas 4; NL Netherlands 11; DE Germany 12; PL Poland 13; LT Lithuania 14; "
        "UA Ukraine 15; GE Georgia 17; KZ Kazakhstan 19; CN China 22; KP North Korea 23; JP Japan 25"
    ),
    5: (
        "GT Guatemala 1; BZ Belize 2; CU Cuba 3; HT Haiti 4; DO Dominican Republic 5; "
        "KN Saint Kitts and Nevis 6; BE Belgium 11; LU Luxembourg 12; CZ Czechia 13; SK Slovakia 14; "
        "RO Romania 15; MD Moldova 16; AM Armenia 17; AZ Azerbaijan 18; UZ Uzbekistan 19; "
        "KG Kyrgyzstan 20; NP Nepal 21; BT Bhutan 22; KR South Korea 23; TW Taiwan 24"
    ),
    6: (
        "SV El Salvador 1; HN Honduras 2; JM Jamaica 3; PR Puerto Rico 5; AG Antigua and Barbuda 6; "
        "FR France 11; CH Switzerland 12; AT Austria 13; HU Hungary 14; RS Serbia 15; "
        "BG Bulgaria 16; TR Türkiye 17; TM Turkmenistan 19; TJ Tajikistan 20; BD Bangladesh 22; "
        "HK Hong Kong 23; MO Macau 24"
    ),
    7: (
        "NI Nicaragua 2; DM Dominica 6; PT Portugal 9; ES Spain 10; MC Monaco 11; "
        "LI Liechtenstein 12; SI Slovenia 13; HR Croatia 14; BA Bosnia and Herzegovina 15; "
        "MK North Macedonia 16; CY Cyprus 17; SY Syria 18; IR Iran 19; AF Afghanistan 20; "
        "IN India 21; MM Myanmar 22; LA Laos 23; VN Vietnam 24; PH Philippines 25"
    ),
    8: (
        "CR Costa Rica 2; LC Saint Lucia 6; AD Andorra 10; SM San Marino 12; IT Italy 13; "
        "ME Montenegro 14; AL Albania 15; GR Greece 16; LB Lebanon 17; IQ Iraq 18; KW Kuwait 19; "
        "PK Pakistan 20; LK Sri Lanka 21; TH Thailand 22; KH Cambodia 23"
    ),
    9: (
        "PA Panama 2; VC Saint Vincent and the Grenadines 6; BB Barbados 7; MA Morocco 10; "
        "DZ Algeria 11; TN Tunisia 12; MT Malta 13; IL Israel 16; PS Palestine 17; JO Jordan 18; "
        "SA Saudi Arabia 19; BH Bahrain 20; MV Maldives 21; MY Malaysia 22; BN Brunei 24; "
        "PW Palau 26; MH Marshall Islands 27"
    ),
    10: (
        "CO Colombia 3; VE Venezuela 4; GD Grenada 6; TT Trinidad and Tobago 7; MR Mauritania 10; "
        "ML Mali 11; NE Niger 12; LY Libya 13; EG Egypt 16; YE Yemen 18; QA Qatar 19; "
        "AE United Arab Emirates 20; SG Singapore 22; ID Indonesia 23; TL Timor-Leste 24; "
        "FM Micronesia 26; NR Nauru 27"
    ),
    11: (
        "EC Ecuador 3; BR Brazil 4; GY Guyana 5; SR Suriname 6; CV Cape Verde 8; SN Senegal 9; "
        "GN Guinea 10; BF Burkina Faso 11; NG Nigeria 12; TD Chad 13; SD Sudan 15; ER Eritrea 16; "
        "OM Oman 19; PG Papua New Guinea 24; SB Solomon Islands 26; KI Kiribati 27"
    ),
    12: (
        "PE Peru 3; BO Bolivia 4; GM Gambia 9; GW Guinea-Bissau 10; CI Côte d’Ivoire 11; "
        "GH Ghana 12; CM Cameroon 13; CF Central African Republic 14; SS South Sudan 15; "
        "ET Ethiopia 16; DJ Djibouti 17; VU Vanuatu 26; TV Tuvalu 27"
    ),
    13: (
        "CL Chile 3; PY Paraguay 4; SL Sierra Leone 10; LR Liberia 11; TG Togo 12; BJ Benin 13; "
        "CG Congo 14; UG Uganda 15; KE Kenya 16; SO Somalia 17; AU Australia 24; FJ Fiji 26; "
        "WS Samoa 27"
    ),
    14: (
        "AR Argentina 3; UY Uruguay 4; ST São Tomé and Príncipe 11; GQ Equatorial Guinea 12; "
        "GA Gabon 13; CD Democratic Republic of the Congo 14; RW Rwanda 15; TZ Tanzania 16; "
        "SC Seychelles 18; NZ New Zealand 25; TO Tonga 27"
    ),
    15: "AO Angola 13; ZM Zambia 14; BI Burundi 15; MW Malawi 16; KM Comoros 17",
    16: (
        "NA Namibia 13; BW Botswana 14; ZW Zimbabwe 15; MZ Mozambique 16; MG Madagascar 17; MU Mauritius 18"
    ),
    17: "ZA South Africa 14; SZ Eswatini 15; LS Lesotho 16",
}


def _parse_tiles(row: int, text: str) -> list[Tile]:
    tiles = []
    for part in text.split("; "):
        code, name_and_column = part.split(" ", 1)
        name, column = name_and_column.rsplit(" ", 1)
        tiles.append(Tile(code, name, int(column), row))
    return tiles


TILES: list[Tile] = [tile for row, text in _ROWS.items() for tile in _parse_tiles(row, text)]

# Folded spellings of countries other than their names and codes.
_SPELLINGS = (
    "AE uae; AT osterreich; BR brasil; CD drc, dr congo; CH schweiz; CI ivory coast; "
    "CN mainland china, p r china, peoples republic of china, people s republic of china, pr china; "
    "CV cabo verde; CZ czech republic; DE deutschland; ES espana; "
    "GB england, great britain, northern ireland, scotland, u k, uk, wales; HK hong kong sar; "
    "KR korea, korea republic of, korea south, republic of korea; MO macao; "
    "NL holland, the netherlands; RU russian federation; SZ swaziland; TR turkey; TW taiwan roc; "
    "US america, u s a, united states of america, usa; VN viet nam"
)


def _fold_name(name: str) -> str:
    text = "".join(letter if letter.isalnum() else " " for letter in fold(name))
    return " ".join(text.split())


_BY_CODE = {tile.code: tile for tile in TILES}
_BY_NAME = (
    {_fold_name(tile.name): tile for tile in TILES}
    | {tile.code.lower(): tile for tile in TILES}
    | {spelling: _BY_CODE[part[:2]] for part in _SPELLINGS.split("; ") for spelling in part[3:].split(", ")}
)


def tile_of(country: str) -> Tile | None:
    """Return the square of a country by its name, code or another known spelling, or `None`.

    >>> tile_of("Republic of Korea").code
    'KR'
    """
    return _BY_NAME.get(_fold_name(country))
